/** Slow test files: those that start processes, servers, a browser or another language, and those that wait long. */
import { configDefaults } from 'vitest/config'

const SLOW_FILES = [
  'test/browser/**/*.test.ts',
  'test/clients/command-line/**/*.test.ts',
  'test/clients/python/**/*.test.ts',
  'test/engines/**/*.test.ts',
  'test/faults/**/*.test.ts',
  'test/**/*.slow.test.ts',
]

const SUITES: Record<string, { include: string[]; exclude?: string[] }> = {
  fast: { include: ['test/**/*.test.ts'], exclude: [...configDefaults.exclude, ...SLOW_FILES] },
  slow: { include: SLOW_FILES },
  all: { include: ['test/**/*.test.ts'] },
}

/** The files of this run: the fast ones, those of `bun run test:slow`, or all if the command names files. */
export const suiteFiles = SUITES[process.env.TEST_SUITE ?? 'fast']
