/**
 * `bun scripts/ci/main.ts check 'mutate --tested' test`: runs each of these package scripts, then prints the flaky tests, the failures, and
 * the number of tests alone on the last line. Ends non-zero if anything failed or nothing passed. The scripts `test` and `test:…` run
 * Vitest: their failed files are run a second time. Any other script counts as one failure if it fails.
 */
import { runScript } from './run-script.ts'
import { runSuite } from './run-suite.ts'
import { addFailure, createResult, type StepResult, summarize } from './step-result.ts'

const results: StepResult[] = []
for (const script of process.argv.slice(2)) {
  const startedAt = performance.now()
  results.push(await runStep(script))
  process.stdout.write(`${script} took ${((performance.now() - startedAt) / 1000).toFixed(0)} s\n`)
}
const { text, isSuccess } = summarize(results)
// Does not wait for processes that a step left behind.
process.stdout.write(text, () => process.exit(isSuccess ? 0 : 1))

async function runStep(script: string): Promise<StepResult> {
  const result = createResult()
  try {
    if (/^test(:\w+)?$/.test(script)) return await runSuite(script)
    const { exitCode, lastLines } = await runScript(script)
    if (exitCode !== 0) addFailure(result, script, lastLines)
  } catch (error) {
    addFailure(result, script, String(error))
  }
  return result
}
