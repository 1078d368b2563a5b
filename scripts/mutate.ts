/**
 * `bun run mutate`: breaks lines that count and admit, one at a time, each in a copy of the tree that is thrown away, and runs the tests
 * that must notice. Ends non-zero when one goes unnoticed, or when a listed line is not where the list says: then it has moved, and the
 * list moves with it. Runs on the embedded backend alone, so that it needs no stores. `bun run mutate quota` tries the files named so;
 * with `--tested`, the tests were run on the tree as it is, and have passed.
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { MUTATIONS, type Mutation } from './mutations.ts'

const COPIED = [
  'src',
  'sql',
  'test',
  'scripts',
  'package.json',
  'bunfig.toml',
  'bun.lock',
  'tsconfig.json',
  'vitest.config.ts',
]
/** Read only. */
const LINKED = ['node_modules', 'vendor']
const COPIES = 2
/** A broken loop may never end. */
const LIMIT_MS = 60_000
/** All that is listed, without a line broken, beside other tests on a slow machine. */
const AS_IT_IS_LIMIT_MS = 300_000

/** Deployed over what the tests' database starts from (test/harness/take-embedded.ts): making that anew takes longer than most tests. */
const DEPLOYED = /^sql\/(functions|views)\//

type Outcome = 'noticed' | 'UNNOTICED' | 'NOT FOUND' | 'DOES NOT RUN'

const root = join(import.meta.dir, '..')
const { values: options, positionals } = parseArgs({ options: { tested: { type: 'boolean' } }, allowPositionals: true })
const chosen = MUTATIONS.filter(({ file }) => file.includes(positionals[0] ?? ''))
const startedAtMs = performance.now()
let noticed = 0
const waiting: (Mutation | null)[] = options.tested ? [...chosen] : [null, ...chosen]

await Promise.all(Array.from({ length: COPIES }, work))
const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(0)
process.stdout.write(`${noticed} of ${chosen.length} broken lines were noticed (${seconds} s)\n`)
if (noticed < chosen.length) process.exitCode = 1

/** Takes mutations until none is left. The tree as it is comes first: where its tests fail, what they notice says nothing. */
async function work(): Promise<void> {
  const copy = copyTree()
  try {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (next === null) await testAsItIs(copy)
      else report(next, await tryOut(copy, next))
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'model-proxy-mutate-'))
  for (const name of COPIED) cpSync(join(root, name), join(copy, name), { recursive: true })
  for (const name of LINKED) if (existsSync(join(root, name))) symlinkSync(join(root, name), join(copy, name))
  return copy
}

async function testAsItIs(copy: string): Promise<void> {
  const all = new Set(chosen.flatMap(({ noticedBy }) => noticedBy))
  const { failed, names } = await runTests(copy, [...all], { limitMs: AS_IT_IS_LIMIT_MS })
  if (failed === 0) return
  const what = failed === null ? 'do not run' : names.length > 0 ? `fail (${names.join(', ')})` : 'do not end'
  process.stdout.write(`FAIL The tests ${what} without any line broken.\n`)
  process.exitCode = 1
  waiting.length = 0
}

async function tryOut(copy: string, { file, line, becomes, noticedBy, test }: Mutation): Promise<Outcome> {
  const path = join(copy, file)
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const [before, after, ...more] = text.split(line)
  if (before === undefined || after === undefined || more.length > 0) return 'NOT FOUND'
  const brokenSql = DEPLOYED.test(file) ? join(copy, 'broken.sql') : null
  writeFileSync(brokenSql ?? path, `${before}${becomes}${after}`)
  const tests = test ? [...noticedBy, `--testNamePattern=${RegExp.escape(test)}`] : noticedBy
  const { failed } = await runTests(copy, tests, { brokenSql })
  writeFileSync(path, text)
  if (failed === null) return 'DOES NOT RUN'
  return failed > 0 ? 'noticed' : 'UNNOTICED'
}

function report({ file, line, becomes }: Mutation, outcome: Outcome): void {
  if (outcome === 'noticed') {
    noticed++
    return
  }
  process.stdout.write(`FAIL ${outcome}: ${file}\n    ${line}\n  → ${becomes || '(nothing)'}\n`)
}

/** What Vitest's JSON reporter writes. */
interface TestReport {
  numFailedTests: number
  numTotalTests: number
  testResults: { assertionResults: { status: string; fullName: string }[] }[]
}

interface Tested {
  /** Null when they could not run at all. What does not end counts as failed. */
  failed: number | null
  names: string[]
}

async function runTests(
  copy: string,
  files: readonly string[],
  { limitMs = LIMIT_MS, brokenSql = null }: { limitMs?: number; brokenSql?: string | null } = {},
): Promise<Tested> {
  const result = join(copy, 'result.json')
  rmSync(result, { force: true })
  const { DATABASE_URL: _, REDIS_URL: __, ...environment } = process.env
  const options = ['--bail=1', '--maxWorkers=1', '--testTimeout=30000', '--reporter=json', `--outputFile=${result}`]
  const running = Bun.spawn(['bun', 'run', 'test', ...files, ...options], {
    cwd: copy,
    env: { ...environment, ...(brokenSql !== null && { BROKEN_SQL: brokenSql }) },
    stdout: 'ignore',
    stderr: 'ignore',
    timeout: limitMs,
    killSignal: 'SIGKILL',
  })
  await running.exited
  if (running.signalCode !== null) return { failed: 1, names: [] }
  if (!existsSync(result)) return { failed: null, names: [] }
  const written = readFileSync(result, 'utf8')
  if (written.includes('The broken SQL does not run')) return { failed: null, names: [] }
  const { numFailedTests, numTotalTests, testResults } = JSON.parse(written) as TestReport
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
  const names = tests.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName)
  return { failed: numTotalTests === 0 ? null : numFailedTests, names }
}
