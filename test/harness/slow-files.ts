/** Which test files are slow: those that start processes, engines, a browser or another language. */
import { configDefaults } from 'vitest/config'

const SLOW_FILES = [
  'test/browser/**/*.test.ts',
  'test/clients/command-line/**/*.test.ts',
  'test/clients/python/**/*.test.ts',
  'test/engines/**/*.test.ts',
  'test/faults/**/*.test.ts',
  'test/**/*.slow.test.ts',
]

/** The files of this run: the fast ones, or those of `bun run test:slow`. */
export const suiteFiles =
  process.env.TEST_SUITE === 'slow'
    ? { include: SLOW_FILES }
    : { include: ['test/**/*.test.ts'], exclude: [...configDefaults.exclude, ...SLOW_FILES] }
