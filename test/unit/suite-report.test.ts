/** `.ci/run` combines the first and the second run of a failed test file. */
import { expect, test } from 'vitest'
import { addFailure, createResult, summarize } from '../../scripts/ci/step-result.ts'
import {
  assignUnhandled,
  combineRuns,
  countTests,
  type Failure,
  type FileReport,
} from '../../scripts/ci/suite-report.ts'

const failed = (name: string, isTest = true): Failure => ({ name, isTest, error: 'expected 1 to be 2' })
const report = (outcome: Partial<FileReport>): FileReport => ({
  file: 'a.test.ts',
  passed: [],
  skipped: [],
  failures: [],
  ...outcome,
})
const namesOf = (failures: readonly Failure[]) => failures.map(({ name }) => name)

function combine(first: Partial<FileReport>, second: Partial<FileReport>) {
  const { combined, flaky } = combineRuns(report(first), report(second))
  return { failures: namesOf(combined.failures), flaky: namesOf(flaky), ...countTests(combined) }
}

test('a failed test that passes in the second run is flaky and counts once, as passed', () => {
  const second = { passed: ['one', 'two'], skipped: ['three'] }
  expect(combine({ passed: ['one'], skipped: ['three'], failures: [failed('two')] }, second)).toEqual({
    failures: [],
    flaky: ['two'],
    passed: 2,
    skipped: 1,
  })
})

test.each<[string, Partial<FileReport>]>([
  ['fails again', { passed: ['one'], failures: [failed('two')] }],
  ['is skipped', { passed: ['one'], skipped: ['two'] }],
  ['is missing', { passed: ['one'] }],
  ['passes and fails under the same name', { passed: ['one', 'two'], failures: [failed('two')] }],
])('a failed test that %s in the second run is one failure', (_, second) => {
  const { failures, flaky, skipped } = combine({ passed: ['one'], failures: [failed('two')] }, second)
  expect({ failures, flaky, skipped }).toEqual({ failures: ['two'], flaky: [], skipped: 0 })
})

test('a test that fails only in the second run is a failure', () => {
  const first = { passed: ['one'], failures: [failed('two')] }
  const second = { passed: ['two'], failures: [failed('one')] }
  expect(combine(first, second)).toEqual({ failures: ['one'], flaky: ['two'], passed: 1, skipped: 0 })
})

test('a failure outside of tests is flaky only if tests pass and nothing fails in the second run', () => {
  const first = { skipped: ['one'], failures: [failed('(outside of a test)', false)] }
  expect(combine(first, { passed: ['one'] })).toMatchObject({ failures: [], flaky: ['(outside of a test)'], passed: 1 })
  expect(combine(first, { skipped: ['one'] })).toMatchObject({ failures: ['(outside of a test)'], flaky: [] })
  expect(combine(first, { passed: ['two'], failures: [failed('one')] })).toMatchObject({
    failures: ['one', '(outside of a test)'],
    flaky: [],
  })
})

test('an unhandled error belongs to its file only if that file failed', () => {
  const error = (file: string | null) => ({ file, failure: failed('(unhandled error)', false) })
  const files = [report({ failures: [failed('one')] }), report({ file: 'b.test.ts', passed: ['two'] })]
  const assigned = assignUnhandled({ files, unhandled: [error('a.test.ts'), error('b.test.ts'), error(null)] })
  expect(assigned.files.map(({ failures }) => namesOf(failures))).toEqual([['one', '(unhandled error)'], []])
  expect(assigned.unhandled.map(({ file }) => file)).toEqual(['b.test.ts', null])
})

test('the summary names flaky tests and failures, and ends with the counts', () => {
  const flaky = { ...createResult(), passed: 3, skipped: 1, flaky: ['a.test.ts › one\n5 passed'] }
  const counts = '3 passed, 0 failed, 1 skipped\n'
  expect(summarize([flaky, createResult()])).toEqual({
    text: `flaky: a.test.ts › one 5 passed\n${counts}`,
    isSuccess: true,
  })
  const broken = createResult()
  addFailure(broken, 'b.test.ts ›\ntwo', 'Error: it\nbroke')
  const text = 'FAILED: b.test.ts › two\n  Error: it\n  broke\n3 passed, 1 failed, 1 skipped\n'
  expect(summarize([{ ...flaky, flaky: [] }, broken])).toEqual({ text, isSuccess: false })
})

test('a run in which no test passed is no success', () => {
  expect(summarize([createResult()])).toEqual({ text: '0 passed, 0 failed, 0 skipped\n', isSuccess: false })
})
