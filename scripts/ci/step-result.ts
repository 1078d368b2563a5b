/** The result of a step of `.ci/run`, and the summary of all steps. */

/** Further failures are listed by name only. */
const MAX_DETAILED = 20
const MAX_DETAIL_LINES = 40
const MAX_LINE_LENGTH = 400

export interface StepResult {
  passed: number
  failed: number
  skipped: number
  /** `FILE › TEST` of each test that passed only in its second run. */
  flaky: string[]
  failures: { title: string; details: string }[]
}

export function createResult(): StepResult {
  return { passed: 0, failed: 0, skipped: 0, flaky: [], failures: [] }
}

export function addFailure(result: StepResult, title: string, details: string): void {
  result.failed++
  result.failures.push({ title, details })
}

/** Lists flaky tests and failures, with the counts alone on the last line. */
export function summarize(results: readonly StepResult[]): { text: string; isSuccess: boolean } {
  const sum = (count: 'passed' | 'failed' | 'skipped') => results.reduce((total, result) => total + result[count], 0)
  const lines = [
    ...results.flatMap(({ flaky }) => flaky.map(test => onOneLine(`flaky: ${test}`))),
    ...results
      .flatMap(({ failures }) => failures)
      .flatMap(({ title, details }, index) => [
        onOneLine(`FAILED: ${title}`),
        ...(index < MAX_DETAILED ? indent(details) : []),
      ]),
    `${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`,
  ]
  return { text: `${lines.join('\n')}\n`, isSuccess: sum('failed') === 0 && sum('passed') > 0 }
}

function indent(details: string): string[] {
  return details
    .split('\n')
    .slice(0, MAX_DETAIL_LINES)
    .map(line => `  ${line.slice(0, MAX_LINE_LENGTH)}`)
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}
