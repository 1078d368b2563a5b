/**
 * Used by `bun run mutate`. Runs each test that must detect broken SQL with the intact SQL, then with each break, then with the intact SQL
 * again, and reports which of these runs failed. One process runs many breaks, because its start takes longer than most tests.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, type RunnerTask, type RunnerTestSuite } from 'vitest'
import { currentEmbeddedDatabase } from './shared-embedded.ts'

/** One break and its result. */
export interface SqlBreak {
  /** Part of the names of the tests that must fail; undefined: any test. */
  test?: string | undefined
  broken: string
  whole: string
}
export type SqlOutcome = 'noticed' | 'UNNOTICED' | 'DOES NOT RUN' | 'FAILS UNBROKEN'

const { BROKEN_SQL: path } = process.env

if (path) {
  const breaks = JSON.parse(readFileSync(path, 'utf8')) as SqlBreak[]
  const doNotRun = new Set<SqlBreak>()
  const breaksOf = (task: RunnerTask) => {
    const name = fullNameOf(task)
    return breaks.filter(({ test = '' }) => name.includes(test))
  }
  let tests: RunnerTask[] = []

  // biome-ignore lint/correctness/noEmptyPattern: Vitest takes no other form of what is not used
  beforeAll(({}, suite) => {
    tests = testsOf(suite)
    for (const test of tests) test.repeats = breaksOf(test).length * 2
  })

  beforeEach(async ({ task }) => {
    const run = task.result?.repeatCount ?? 0
    if (run === 0) return
    const tried = breaksOf(task)[Math.floor((run - 1) / 2)]
    if (!tried) return
    const isBroken = run % 2 === 1
    await deploy(isBroken ? tried.broken : tried.whole).catch(error => {
      if (isBroken) doNotRun.add(tried)
      throw error
    })
  })

  afterAll(() => {
    const outcomes = breaks.map((each): SqlOutcome => {
      if (doNotRun.has(each)) return 'DOES NOT RUN'
      const runs = tests.flatMap(test => {
        const at = breaksOf(test).indexOf(each)
        const states = test.result?.attempts?.map(({ state }) => state) ?? []
        return at < 0 || states.length <= at * 2 ? [] : [states.slice(at * 2, at * 2 + 3)]
      })
      if (runs.some(([before, , after]) => before !== 'pass' || after !== 'pass')) return 'FAILS UNBROKEN'
      return runs.some(([, broken]) => broken === 'fail') ? 'noticed' : runs.length > 0 ? 'UNNOTICED' : 'DOES NOT RUN'
    })
    writeFileSync(`${path}.outcomes`, JSON.stringify(outcomes))
  })
}

async function deploy(sql: string): Promise<void> {
  const database = currentEmbeddedDatabase()
  if (!database) throw new Error('These tests use no embedded database')
  await database.runScript(sql)
}

function testsOf(suite: Readonly<RunnerTestSuite>): RunnerTask[] {
  return suite.tasks.flatMap(task => (task.type === 'suite' ? testsOf(task) : [task]))
}

function fullNameOf({ name, suite }: RunnerTask): string {
  return suite ? `${fullNameOf(suite)} ${name}` : name
}
