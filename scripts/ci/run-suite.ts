/** Runs a test suite, then runs the failed files a second time, one after the other. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runScript, type ScriptResult } from './run-script.ts'
import { addFailure, createResult, type StepResult } from './step-result.ts'
import { assignUnhandled, combineRuns, countTests, type FileReport, type SuiteReport } from './suite-report.ts'

/** More failed files have a common cause, and a second run of them would take long. */
const MAX_RERUN_FILES = 10
const REPORTER = join(import.meta.dir, 'reporter.ts')

/** `script` runs Vitest with the options that are appended to it. */
export async function runSuite(script: string): Promise<StepResult> {
  const result = createResult()
  const { report, ...ended } = await runVitest(script)
  if (!report) {
    addFailure(result, `${script} ${describeExit(ended)} and wrote no report`, ended.lastLines)
    return result
  }
  const { files, unhandled } = assignUnhandled(report)
  const failedFiles = files.filter(({ failures }) => failures.length > 0)
  for (const { file, failure } of unhandled) addFailure(result, `${file ?? script} › ${failure.name}`, failure.error)
  if (isUnexplained(ended, failedFiles.length + unhandled.length))
    addFailure(result, `${script} ${describeExit(ended)}`, ended.lastLines)
  for (const file of files) {
    const isRerun = failedFiles.includes(file) && failedFiles.length <= MAX_RERUN_FILES
    addFile(result, isRerun ? await rerun(script, file, files) : { combined: file, flaky: [] })
  }
  return result
}

/** A second run without results of the file confirms the failures of the first. */
async function rerun(
  script: string,
  first: FileReport,
  files: readonly FileReport[],
): Promise<ReturnType<typeof combineRuns>> {
  process.stdout.write(`\nRunning ${first.file} again, alone.\n`)
  // Vitest runs every file whose path contains the given one.
  const others = files.filter(({ file }) => file !== first.file && file.includes(first.file))
  const excluded = others.map(({ file }) => `--exclude=${file}`)
  const { report, ...ended } = await runVitest(script, [first.file, '--maxWorkers=1', ...excluded])
  const found = report?.files.find(({ file }) => file === first.file)
  const second = found ?? first
  const failures = [...second.failures, ...(report?.unhandled ?? []).map(({ failure }) => failure)]
  if (!found || isUnexplained(ended, failures.length))
    failures.push({ name: `(second run ${describeExit(ended)})`, isTest: false, error: ended.lastLines })
  return combineRuns(first, { ...second, failures })
}

async function runVitest(
  script: string,
  options: readonly string[] = [],
): Promise<ScriptResult & { report: SuiteReport | null }> {
  const folder = mkdtempSync(join(tmpdir(), 'model-proxy-ci-'))
  const path = join(folder, 'report.json')
  const reporters = ['--reporter=default', `--reporter=${REPORTER}`]
  const ended = await runScript(script, [...options, ...reporters], { SUITE_REPORT: path })
  const report = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as SuiteReport) : null
  rmSync(folder, { recursive: true, force: true })
  return { ...ended, report }
}

function addFile(result: StepResult, { combined, flaky }: ReturnType<typeof combineRuns>): void {
  const { passed, skipped } = countTests(combined)
  result.passed += passed
  result.skipped += skipped
  for (const { name, error } of combined.failures) addFailure(result, `${combined.file} › ${name}`, error)
  result.flaky.push(...flaky.map(({ name }) => `${combined.file} › ${name}`))
}

/** Vitest exits with 1 for reported failures. A failed teardown is not reported, and a crash has another status. */
function isUnexplained({ exitCode }: ScriptResult, failures: number): boolean {
  return exitCode !== 0 && (exitCode !== 1 || failures === 0)
}

function describeExit({ exitCode }: ScriptResult): string {
  return `ended with status ${exitCode}`
}
