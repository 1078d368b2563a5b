/** The Vitest reporter of `.ci/run`: writes each file's tests, and every error outside of a test, as JSON to `SUITE_REPORT`. */
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node'
import type { Failure, FileReport, SuiteReport } from './suite-report.ts'

/** The name of a file's failures outside of its tests and `describe` blocks. */
const OUTSIDE = '(outside of a test)'
const UNHANDLED = '(unhandled error)'
const MAX_CAUSES = 3
/** Vitest's default reporter, which runs first, adds this prefix to the name of a printed cause. */
const CAUSE_PREFIX = 'Caused by: '

export default class SuiteReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const root = modules[0]?.project.config.root ?? process.cwd()
    const report: SuiteReport = {
      files: modules.map(module => describeFile(module, root)),
      unhandled: unhandledErrors.map(error => ({
        // Vitest reports the file that its worker ran at that moment; errors of a crashed worker have none.
        file: typeof error.VITEST_TEST_PATH === 'string' ? relative(root, error.VITEST_TEST_PATH) : null,
        failure: { name: UNHANDLED, isTest: false, error: describeErrors([error]) },
      })),
    }
    writeFileSync(String(process.env.SUITE_REPORT), JSON.stringify(report))
  }
}

function describeFile(module: TestModule, root: string): FileReport {
  const tests = [...module.children.allTests()]
  const failures = [
    ...describeOutside(OUTSIDE, module.errors()),
    ...[...module.children.allSuites()].flatMap(suite => describeOutside(suite.fullName, suite.errors())),
    ...tests.flatMap(describeFailedTest),
  ]
  const isUnfinished = ['pending', 'queued'].includes(module.state())
  if (failures.length === 0 && (isUnfinished || !module.ok()))
    failures.push({ name: OUTSIDE, isTest: false, error: 'The file did not finish.' })
  const namesOf = (state: string) => tests.filter(test => test.result().state === state).map(({ fullName }) => fullName)
  return {
    file: relative(root, module.moduleId),
    passed: namesOf('passed'),
    skipped: namesOf('skipped'),
    failures,
  }
}

function describeOutside(name: string, errors: readonly SerializedError[]): Failure[] {
  return errors.length === 0 ? [] : [{ name, isTest: false, error: describeErrors(errors) }]
}

function describeFailedTest(test: TestCase): Failure[] {
  const result = test.result()
  if (result.state === 'pending') return [{ name: test.fullName, isTest: true, error: 'The test did not finish.' }]
  return result.state === 'failed' ? [{ name: test.fullName, isTest: true, error: describeErrors(result.errors) }] : []
}

/** Returns the message, the difference between expected and received values, the position, and the causes. */
function describeErrors(errors: readonly SerializedError[], depth = 0): string {
  const texts = errors.flatMap(({ name = 'Error', message, diff, stacks, cause }) => {
    const [place] = stacks ?? []
    return [
      `${name.replace(CAUSE_PREFIX, '')}: ${message}`,
      ...(typeof diff === 'string' ? [diff] : []),
      ...(place ? [`at ${place.file}:${place.line}:${place.column}`] : []),
      ...(cause && depth < MAX_CAUSES ? [`Caused by ${describeErrors([cause], depth + 1)}`] : []),
    ]
  })
  return stripVTControlCharacters(texts.join('\n'))
}
