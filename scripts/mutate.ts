/**
 * `bun run mutate`: applies one mutation at a time in a temporary copy of the tree and runs the tests that must fail. Ends non-zero if all
 * tests of a mutation pass, or if a listed line is not in its file: a moved line needs its row updated. Rows whose tests need real stores
 * run only with DATABASE_URL and REDIS_URL; all others run on embedded stores. `bun run mutate quota` runs the rows of files whose path
 * contains the word. `--tested` states that the tests pass on the unchanged tree. `--within-s 240` starts no mutation after that many
 * seconds, and shuffles the order with TEST_SEED (1 by default).
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { SqlBreak, SqlOutcome } from '../test/harness/broken-sql.ts'
import { createRandom } from '../test/harness/random.ts'
import { MUTATIONS, type Mutation } from './mutations.ts'

const COPIED = [
  'src',
  'sql',
  'test',
  'scripts',
  'examples',
  'package.json',
  'bunfig.toml',
  'bun.lock',
  'tsconfig.json',
  'vitest.config.ts',
]
/** Linked, not copied, because tests only read them. */
const LINKED = ['node_modules', 'vendor']
const COPIES = 2
/** A mutated loop may never end. */
const LIMIT_MS = 60_000
/** The time limit of all listed tests on the unchanged tree, beside other tests on a slow machine. */
const AS_IT_IS_LIMIT_MS = 300_000

/** These files are deployed one after the other into the database of a running test process (test/harness/broken-sql.ts). */
const DEPLOYED = /^sql\/(functions|views)\//
/** Upper bound of mutations in one test process, so that both copies have work. */
const MOST_TOGETHER = 12

type Outcome = 'noticed' | 'UNNOTICED' | 'NOT FOUND' | 'DOES NOT RUN'

const root = join(import.meta.dir, '..')
const { values: options, positionals } = parseArgs({
  options: { tested: { type: 'boolean' }, 'within-s': { type: 'string' } },
  allowPositionals: true,
})
const withinMs = Number(options['within-s'] ?? Number.POSITIVE_INFINITY) * 1000
const hasRealStores = process.env.DATABASE_URL !== undefined && process.env.REDIS_URL !== undefined
const chosen = MUTATIONS.filter(
  ({ file, noticedBy }) => file.includes(positionals[0] ?? '') && (hasRealStores || !needRealStores(noticedBy)),
)
const startedAtMs = performance.now()
let tried = 0
let noticed = 0
const groups = options['within-s'] === undefined ? group(chosen) : shuffled(group(chosen))
const waiting: (Mutation[] | null)[] = options.tested ? groups : [null, ...groups]

await Promise.all(Array.from({ length: COPIES }, work))
const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(0)
const left = chosen.length - tried > 0 ? `, ${chosen.length - tried} left for later runs` : ''
process.stdout.write(`${noticed} of ${tried} mutations made a test fail (${seconds} s)${left}\n`)
if (noticed < tried || tried === 0) process.exitCode = 1

/** Runs mutations until none is left. The unchanged tree is tested first: mutations prove nothing for tests that fail there. */
async function work(): Promise<void> {
  const copy = copyTree()
  try {
    while (performance.now() - startedAtMs < withinMs) {
      const next = waiting.shift()
      if (next === undefined) break
      if (next === null) await testAsItIs(copy)
      else await tryAll(copy, next)
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
  process.stdout.write(`FAIL The tests ${what} on the unchanged tree.\n`)
  process.exitCode = 1
  waiting.length = 0
}

/** Groups SQL mutations with the same tests; any other mutation is a group of its own. */
function group(mutations: readonly Mutation[]): Mutation[][] {
  const groups: Mutation[][] = []
  const open = new Map<string, Mutation[]>()
  for (const mutation of mutations) {
    const name = mutation.noticedBy.join()
    const found = DEPLOYED.test(mutation.file) ? open.get(name) : undefined
    if (found && found.length < MOST_TOGETHER) found.push(mutation)
    else {
      const opened = [mutation]
      groups.push(opened)
      if (DEPLOYED.test(mutation.file)) open.set(name, opened)
    }
  }
  return groups
}

/** Shuffles by `TEST_SEED`, as tests do: the same order in every run, or a new one with `random`. */
function shuffled<Item>(items: readonly Item[]): Item[] {
  const random = createRandom(process.env.TEST_SEED === 'random' ? Date.now() : Number(process.env.TEST_SEED ?? 1))
  return items
    .map(item => ({ item, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item)
}

async function tryAll(copy: string, mutations: readonly Mutation[]): Promise<void> {
  const found = mutations.filter(mutation => {
    const isFound = breakLine(copy, mutation) !== null
    if (!isFound) report(mutation, 'NOT FOUND')
    return isFound
  })
  const [first] = found
  if (!first) return
  const outcomes = DEPLOYED.test(first.file) ? await tryDeployed(copy, found) : []
  // A mutation that passed is repeated alone, because the state before it or an earlier mutation may have hidden it.
  for (const [at, mutation] of found.entries())
    report(mutation, outcomes[at] === 'noticed' ? 'noticed' : await tryOut(copy, mutation))
}

/** Returns the file's text before and after the mutation; null if the line does not occur exactly once. */
function breakLine(copy: string, { file, line, becomes }: Mutation): Pick<SqlBreak, 'whole' | 'broken'> | null {
  const path = join(copy, file)
  const whole = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const [before, after, ...more] = whole.split(line)
  if (before === undefined || after === undefined || more.length > 0) return null
  return { whole, broken: `${before}${becomes}${after}` }
}

async function tryOut(copy: string, mutation: Mutation): Promise<Outcome> {
  const { file, noticedBy, test } = mutation
  const { whole = '', broken = '' } = breakLine(copy, mutation) ?? {}
  const path = join(copy, file)
  writeFileSync(path, broken)
  const { failed } = await runTests(copy, test ? [...noticedBy, namePattern([test])] : noticedBy)
  writeFileSync(path, whole)
  if (failed === null) return 'DOES NOT RUN'
  return failed > 0 ? 'noticed' : 'UNNOTICED'
}

/** Runs SQL mutations with the same tests in one process. Returns no results if the tests fail to start or do not end. */
async function tryDeployed(copy: string, mutations: readonly Mutation[]): Promise<SqlOutcome[]> {
  const path = join(copy, 'broken-sql.json')
  const breaks = mutations.map(mutation => ({ test: mutation.test, ...breakLine(copy, mutation) }))
  writeFileSync(path, JSON.stringify(breaks))
  rmSync(`${path}.outcomes`, { force: true })
  const names = mutations.flatMap(({ test }) => test ?? [])
  const files = mutations[0]?.noticedBy ?? []
  const tests = names.length === mutations.length ? [...files, namePattern(names)] : files
  await runTests(copy, tests, { limitMs: LIMIT_MS * mutations.length, environment: { BROKEN_SQL: path }, bails: false })
  if (!existsSync(`${path}.outcomes`)) return []
  return JSON.parse(readFileSync(`${path}.outcomes`, 'utf8')) as SqlOutcome[]
}

/** Returns whether one of the test files is skipped without a real PostgreSQL and a real Redis. `files` may contain directories. */
function needRealStores(files: readonly string[]): boolean {
  return files
    .filter(file => file.endsWith('.ts'))
    .map(file => readFileSync(join(root, file), 'utf8'))
    .some(text => /\bdescribeReal\(/.test(text) && !/\bdescribe(Backends|Embedded)\(/.test(text))
}

function namePattern(names: readonly string[]): string {
  return `--testNamePattern=${[...new Set(names)].map(name => RegExp.escape(name)).join('|')}`
}

function report({ file, line, becomes }: Mutation, outcome: Outcome): void {
  tried++
  if (outcome === 'noticed') {
    noticed++
    return
  }
  process.stdout.write(`FAIL ${outcome}: ${file}\n    ${line}\n  → ${becomes || '(nothing)'}\n`)
}

/** The output of Vitest's JSON reporter. */
interface TestReport {
  numFailedTests: number
  numPassedTests: number
  testResults: { assertionResults: { status: string; fullName: string }[] }[]
}

interface Tested {
  /** Null if the tests could not run. A run that exceeds its time limit counts as failed. */
  failed: number | null
  names: string[]
}

async function runTests(
  copy: string,
  files: readonly string[],
  {
    limitMs = LIMIT_MS,
    environment = {},
    bails = true,
  }: { limitMs?: number; environment?: object; bails?: boolean } = {},
): Promise<Tested> {
  const result = join(copy, 'result.json')
  rmSync(result, { force: true })
  const { DATABASE_URL, REDIS_URL, ...usual } = process.env
  const stores = needRealStores(files) ? { DATABASE_URL, REDIS_URL } : {}
  const options = ['--maxWorkers=1', '--testTimeout=30000', '--reporter=json', `--outputFile=${result}`]
  if (bails) options.push('--bail=1')
  const running = Bun.spawn(['bun', 'run', 'test', ...files, ...options], {
    cwd: copy,
    env: { ...usual, ...stores, TEST_SUITE: 'all', TEST_DEPTH: 'full', ...environment },
    stdout: 'ignore',
    stderr: 'ignore',
    timeout: limitMs,
    killSignal: 'SIGKILL',
  })
  await running.exited
  if (running.signalCode !== null) {
    // On a busy machine, this may say nothing of the mutation.
    process.stdout.write(`Killed after ${limitMs / 1000} s, which counts as noticed: ${files.join(' ')}\n`)
    return { failed: 1, names: [] }
  }
  if (!existsSync(result)) return { failed: null, names: [] }
  const { numFailedTests, numPassedTests, testResults } = JSON.parse(readFileSync(result, 'utf8')) as TestReport
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
  const names = tests.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName)
  return { failed: numFailedTests + numPassedTests === 0 ? null : numFailedTests, names }
}
