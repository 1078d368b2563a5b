/** The results of a test suite, combined with the second run of each failed file. */

export interface Failure {
  /** The full name of a test or `describe` block, or a label in parentheses. */
  name: string
  isTest: boolean
  error: string
}

export interface FileReport {
  /** Path from the root. */
  file: string
  /** Full names of tests. */
  passed: string[]
  skipped: string[]
  failures: Failure[]
}

export interface SuiteReport {
  files: FileReport[]
  /** Errors outside of tests. `file` is the test file that ran at that moment; null if unknown. */
  unhandled: { file: string | null; failure: Failure }[]
}

/**
 * The second run replaces the first. A failed test is flaky if it passed in the second run; any other failure is flaky if tests passed and
 * nothing failed. Every other failure of the first run remains, even if the second run skipped the test or did not reach it.
 */
export function combineRuns(first: FileReport, second: FileReport): { combined: FileReport; flaky: Failure[] } {
  const failsAgain = ({ name }: Failure) => second.failures.some(failure => failure.name === name)
  const passesNow = ({ name, isTest }: Failure) =>
    isTest ? second.passed.includes(name) : second.failures.length === 0 && second.passed.length > 0
  const once = first.failures.filter(failure => !failsAgain(failure))
  return {
    combined: { ...second, failures: [...second.failures, ...once.filter(failure => !passesNow(failure))] },
    flaky: once.filter(passesNow),
  }
}

/**
 * Unhandled errors of failed files become failures of these files, which the second run confirms or clears. The others remain: a second run
 * of a file whose tests passed proves nothing, since another file may have caused the error.
 */
export function assignUnhandled({ files, unhandled }: SuiteReport): SuiteReport {
  const failed = new Set(files.filter(({ failures }) => failures.length > 0).map(({ file }) => file))
  const isAssigned = ({ file }: SuiteReport['unhandled'][number]) => file !== null && failed.has(file)
  return {
    files: files.map(report => {
      const assigned = unhandled.filter(error => isAssigned(error) && error.file === report.file)
      return { ...report, failures: [...report.failures, ...assigned.map(({ failure }) => failure)] }
    }),
    unhandled: unhandled.filter(error => !isAssigned(error)),
  }
}

/** A test that failed in the first run and was skipped in the second counts as failed only. */
export function countTests({ passed, skipped, failures }: FileReport): { passed: number; skipped: number } {
  const failed = new Set(failures.map(({ name }) => name))
  return { passed: passed.length, skipped: skipped.filter(name => !failed.has(name)).length }
}
