/** `.ci/run` on small projects: failed test files run a second time, alone, and no failure is lost. */
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FOLDER = createTemporaryDirectory()

const CONFIG = `export default { test: { pool: 'threads', isolate: false, maxWorkers: 2, include: ['*.test.ts'] } }`
const PASSES = `test('passes', () => {})`
const FAILS = `test('fails', () => { expect('1').toBe('2') })`
/** `isFirst(name)` is true on its first call with that name. */
const IS_FIRST = `import { existsSync, writeFileSync } from 'node:fs'
const isFirst = (name: string) => !existsSync(name) && (writeFileSync(name, ''), true)`
const REJECTS = `Promise.reject(new Error('nobody caught this')); await new Promise(resolve => setTimeout(resolve))`

/** Runs the package scripts `steps` of a project with these files. */
async function runCi(files: Record<string, string>, steps = ['test']) {
  const root = mkdtempSync(join(FOLDER, 'project-'))
  mkdirSync(join(root, 'node_modules'))
  for (const name of ['.bin', 'vitest']) symlinkSync(join(ROOT, 'node_modules', name), join(root, 'node_modules', name))
  const scripts = {
    test: 'bun --bun vitest run',
    'test:slow': 'KIND=slow bun run test',
    pass: 'true',
    fail: 'echo broken; exit 3',
  }
  writeFileSync(join(root, 'package.json'), JSON.stringify({ type: 'module', scripts }))
  writeFileSync(join(root, 'vitest.config.ts'), CONFIG)
  for (const [name, text] of Object.entries(files)) {
    const source = name.endsWith('.test.ts')
      ? `import { beforeAll, expect, test } from 'vitest'\n${IS_FIRST}\n${text}`
      : text
    writeFileSync(join(root, name), source)
  }
  const child = Bun.spawn([process.execPath, join(ROOT, 'scripts/ci/main.ts'), ...steps], {
    cwd: root,
    env: bareEnvironment(),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, exitCode] = await Promise.all([new Response(child.stdout).text(), child.exited])
  const lines = out.trimEnd().split('\n')
  return {
    out,
    exitCode,
    counts: lines.at(-1),
    flaky: lines.filter(line => line.startsWith('flaky: ')),
    failed: lines.filter(line => line.startsWith('FAILED: ')).map(line => line.slice('FAILED: '.length)),
    rerun: lines.flatMap(line => /^Running (.*) again, alone\.$/.exec(line)?.[1] ?? []),
  }
}

test('a suite that passes runs once', async () => {
  const run = await runCi({ 'a.test.ts': `${PASSES}\ntest.skip('is skipped', () => {})`, 'b.test.ts': PASSES }, [
    'test',
    'pass',
  ])
  expect(run).toMatchObject({ exitCode: 0, counts: '2 passed, 0 failed, 1 skipped', flaky: [], failed: [], rerun: [] })
})

test('a test that passes in its second run is flaky, in either suite, and one that fails twice is a failure', async () => {
  const files = {
    'flaky.test.ts': `${PASSES}\ntest('is > flaky', () => expect(isFirst(process.env.KIND ?? 'fast')).toBe(false))`,
    'passes.test.ts': PASSES,
  }
  expect(await runCi(files, ['test', 'test:slow'])).toMatchObject({
    exitCode: 0,
    counts: '6 passed, 0 failed, 0 skipped',
    flaky: ['flaky: flaky.test.ts › is > flaky', 'flaky: flaky.test.ts › is > flaky'],
    failed: [],
    rerun: ['flaky.test.ts', 'flaky.test.ts'],
  })
  const both = await runCi({ ...files, 'fails.test.ts': `${PASSES}\n${FAILS}` })
  expect(both).toMatchObject({
    exitCode: 1,
    counts: '4 passed, 1 failed, 0 skipped',
    flaky: ['flaky: flaky.test.ts › is > flaky'],
    failed: ['fails.test.ts › fails'],
  })
  expect(both.rerun.toSorted()).toEqual(['fails.test.ts', 'flaky.test.ts'])
  expect(both.out.slice(both.out.indexOf('FAILED: '))).toMatch(
    /expected '1' to be '2'[\s\S]*Expected: "2"[\s\S]*fails\.test\.ts:\d+/,
  )
})

test('a second run has nothing beside it', async () => {
  const alone = `test('is alone', () => { expect(isFirst('first')).toBe(false); writeFileSync('alone', '') })`
  const beside = `test('is not beside it', () => expect(existsSync('alone')).toBe(false))`
  // One file name is the end of the other.
  const run = await runCi({ 'a.test.ts': alone, 'beside-a.test.ts': beside })
  expect(run).toMatchObject({ exitCode: 0, counts: '2 passed, 0 failed, 0 skipped', rerun: ['a.test.ts'] })
})

test.each([
  [
    'throws while it is loaded',
    `${PASSES}\nthrow new Error('cannot load')`,
    '(outside of a test)',
    '1 passed, 1 failed, 0 skipped',
  ],
  [
    'fails before its tests',
    `${PASSES}\nbeforeAll(() => { throw new Error('cannot start') })`,
    '(outside of a test)',
    '1 passed, 1 failed, 1 skipped',
  ],
])('a file that %s fails, unless its second run passes', async (_, text, name, counts) => {
  const twice = await runCi({ 'a.test.ts': text, 'b.test.ts': PASSES })
  expect(twice).toMatchObject({ exitCode: 1, counts, flaky: [], failed: [`a.test.ts › ${name}`], rerun: ['a.test.ts'] })
  const once = await runCi({ 'a.test.ts': text.replace('throw', `if (isFirst('first')) throw`), 'b.test.ts': PASSES })
  const flaky = [`flaky: a.test.ts › ${name}`]
  expect(once).toMatchObject({ exitCode: 0, counts: '2 passed, 0 failed, 0 skipped', flaky, failed: [] })
})

test('an unhandled rejection fails the run although every test passed', async () => {
  const run = await runCi({ 'a.test.ts': `test('passes', async () => { ${REJECTS} })` })
  expect(run).toMatchObject({
    exitCode: 1,
    counts: '1 passed, 1 failed, 0 skipped',
    failed: ['a.test.ts › (unhandled error)'],
  })
  expect(run.out.slice(run.out.indexOf('FAILED: '))).toContain('nobody caught this')
})

test('an unhandled rejection of a file that failed is cleared by its second run, or confirmed', async () => {
  const file = (condition: string) =>
    `test('is flaky', async () => { const first = isFirst('first'); if (${condition}) { ${REJECTS} }; expect(first).toBe(false) })`
  expect(await runCi({ 'a.test.ts': file('first') })).toMatchObject({
    exitCode: 0,
    counts: '1 passed, 0 failed, 0 skipped',
    flaky: ['flaky: a.test.ts › is flaky', 'flaky: a.test.ts › (unhandled error)'],
  })
  expect(await runCi({ 'a.test.ts': file('true') })).toMatchObject({
    exitCode: 1,
    counts: '1 passed, 1 failed, 0 skipped',
    flaky: ['flaky: a.test.ts › is flaky'],
    failed: ['a.test.ts › (unhandled error)'],
  })
})

test.each([
  [
    'dies without a report',
    `test('dies', () => process.kill(process.pid, 'SIGKILL'))`,
    /^test ended with status \d+ and wrote no report$/,
  ],
  ['has no tests', null, /^test ended with status 1$/],
])('a suite that %s fails', async (_, text, failure) => {
  const run = await runCi(text === null ? {} : { 'a.test.ts': text })
  expect(run).toMatchObject({ exitCode: 1, counts: '0 passed, 1 failed, 0 skipped', flaky: [], rerun: [] })
  expect(run.failed).toEqual([expect.stringMatching(failure)])
})

test('a second run that dies confirms the failures of the first', async () => {
  const text = `test('dies later', () => { if (!isFirst('first')) process.kill(process.pid, 'SIGKILL'); expect(1).toBe(2) })`
  expect(await runCi({ 'a.test.ts': text, 'b.test.ts': PASSES })).toMatchObject({
    exitCode: 1,
    counts: '1 passed, 2 failed, 0 skipped',
    flaky: [],
    failed: ['a.test.ts › dies later', expect.stringMatching(/^a\.test\.ts › \(second run ended with status \d+\)$/)],
  })
})

test('a worker that dies fails the run, also if its file passes in the second run', async () => {
  const dies = `test('dies', () => { if (isFirst('first')) Reflect.get(process, 'reallyExit')(3) })`
  expect(await runCi({ 'a.test.ts': dies })).toMatchObject({
    exitCode: 1,
    counts: '1 passed, 1 failed, 0 skipped',
    flaky: ['flaky: a.test.ts › dies'],
    failed: ['test › (unhandled error)'],
  })
})

test('a teardown of the suite that fails is a failure', async () => {
  const config = CONFIG.replace('include:', `globalSetup: ['setup.ts'], include:`)
  const setup = `export default () => () => { throw new Error('cannot stop') }`
  const run = await runCi({ 'vitest.config.ts': config, 'setup.ts': setup, 'a.test.ts': PASSES })
  expect(run).toMatchObject({
    exitCode: 1,
    counts: '1 passed, 1 failed, 0 skipped',
    failed: ['test ended with status 1'],
  })
  const flaky = { 'b.test.ts': `test('is flaky', () => expect(isFirst('first')).toBe(false))` }
  expect(await runCi({ 'vitest.config.ts': config, 'setup.ts': setup, ...flaky })).toMatchObject({
    exitCode: 1,
    counts: '1 passed, 1 failed, 0 skipped',
    failed: ['b.test.ts › (second run ended with status 1)'],
  })
})

test('many failed files are not run again', async () => {
  const flaky = `test('is flaky', () => expect(isFirst(import.meta.filename + '.ran')).toBe(false))`
  const files = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`${n}.test.ts`, flaky]))
  const many = await runCi(files(11))
  expect(many).toMatchObject({ exitCode: 1, counts: '0 passed, 11 failed, 0 skipped', flaky: [], rerun: [] })
  const few = await runCi(files(10))
  expect(few).toMatchObject({ exitCode: 0, counts: '10 passed, 0 failed, 0 skipped', failed: [] })
})

test('a script that is no suite counts as one failure', async () => {
  const run = await runCi({ 'a.test.ts': PASSES }, ['fail', 'test'])
  expect(run).toMatchObject({ exitCode: 1, counts: '1 passed, 1 failed, 0 skipped', failed: ['fail'] })
  expect(run.out).toMatch(/FAILED: fail\n(?: {2}.*\n)* {2}broken\n/)
})
