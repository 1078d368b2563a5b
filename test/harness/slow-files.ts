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

interface Suite {
  include: string[]
  exclude?: string[]
  maxWorkers: number
}

// Three for the two cores of CI: most files wait at times, for a provider or a limit. Slow files start processes of their own.
const SUITES: Record<string, Suite> = {
  fast: { include: ['test/**/*.test.ts'], exclude: [...configDefaults.exclude, ...SLOW_FILES], maxWorkers: 3 },
  slow: { include: SLOW_FILES, maxWorkers: 2 },
  all: { include: ['test/**/*.test.ts'], maxWorkers: 2 },
}

/** The files of this run, and how many run at once: the fast ones, those of `bun run test:slow`, or all if the command names files. */
export const suite = SUITES[process.env.TEST_SUITE ?? 'fast']
