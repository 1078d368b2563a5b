/** The operators' shell lines of README and docs, run unchanged and in order, in one shell, beside a proxy and over its restart. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeReal } from '../harness/backends.ts'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { blocksOf, findBlock, PAGES, ROOT } from '../harness/docs-blocks.ts'
import { duringTests } from '../harness/during-tests.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'
import { waitUntil } from '../harness/wait-until.ts'

const DATA_DIR = createTemporaryDirectory()
const [PORT, PG_PORT] = [findFreePort(), findFreePort()]
const ENVIRONMENT: Record<string, string> = {
  ...bareEnvironment(),
  DATA_DIR,
  PORT: String(PORT),
  EMBEDDED_PG_PORT: String(PG_PORT),
  METRICS_PORT: '0',
  EMBEDDER: 'builtin',
}

let testKey = ''
let server: Bun.Subprocess | null = null
const aggregator = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
beforeAll(async () => {
  ENVIRONMENT.AGGREGATOR_BASE_URL = aggregator.baseUrl
})
afterAll(() => stop())

/** Shell blocks that another test runs, by a part of their text. The value is that test's file. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'bun run mutate': '.ci/run',
  'ANTHROPIC_BASE_URL=': 'test/clients/command-line/command-line.test.ts',
  pg_restore: 'test/engines/backup.test.ts',
  focus_costs: 'test/integration/focus-csv.test.ts',
  'exists()': 'test/integration/docs-automation.slow.test.ts',
  'import litellm': 'test/integration/import-litellm.test.ts',
  'import gomodel': 'test/integration/import-gomodel.test.ts',
  'insert into model_proxy.models': 'test/integration/import-litellm.test.ts',
  A_LITELLM_KEY: 'test/integration/import-litellm.test.ts',
}

/** Commands, options and variable names of a block. Values are omitted, because each test has its own. */
function commandWords(block: string): string[] {
  return block.replaceAll(/#.*$/gm, '').match(/(?<![\w$"/=.-])(?:--)?[a-zA-Z][\w:-]{3,}/g) ?? []
}

const taken = new Set<string>()

/** The shell block of a page that contains `part`. */
function blockWith(page: string, part: string): string {
  const block = findBlock(page, part)
  taken.add(block)
  return block
}

/** Replaces the examples of the docs as a reader does, and the ports and the data directory by those of this test. */
function adapt(text: string): string {
  return text
    .replaceAll('$PWD/data', DATA_DIR)
    .replaceAll('127.0.0.1:5433', `127.0.0.1:${PG_PORT}`)
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${PORT}`)
    .replaceAll('lgw_proj_AbCd1234', '"$KEY"')
    .replaceAll('lgw_test_…', '$TEST_KEY')
    .replaceAll('lgw_admin_…', '$ADMIN_KEY')
    .replaceAll("-H 'Authorization: Bearer $TEST_KEY'", '-H "Authorization: Bearer $TEST_KEY"')
}

async function shell(script: string): Promise<string> {
  const child = Bun.spawn(['bash', '-euo', 'pipefail', '-c', script], {
    cwd: ROOT,
    env: ENVIRONMENT,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${err}\n${out}`)
  return out
}

/** Starts the proxy with shell lines. Returns its output once it serves and has printed `until`. */
async function start(lines: string, until = /./): Promise<string> {
  const started = Bun.spawn(['bash', '-c', lines], {
    cwd: ROOT,
    env: ENVIRONMENT,
    stdout: 'pipe',
    stderr: 'inherit',
    // The process group ends as in a terminal: the shell and all its descendants.
    detached: true,
  })
  server = started
  let printed = ''
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const part of started.stdout) printed += decoder.decode(part, { stream: true })
  })()
  reading.catch(() => {})
  await waitUntil(
    () => `the proxy listens; it printed: ${printed}`,
    async () => until.test(printed) && isHealthy(),
  )
  return printed
}

async function isHealthy(): Promise<boolean> {
  const health = await fetch(`http://127.0.0.1:${PORT}/v1/health`).catch(() => null)
  return health?.status === 200
}

async function stop(): Promise<void> {
  if (!server) return
  process.kill(-server.pid, 'SIGINT')
  await server.exited
  await waitUntil('the proxy stops', async () => !(await isHealthy()))
  server = null
}

const EXPORTS = adapt(blockWith('docs/operating.md', 'export PGPASSFILE').split('\n').slice(0, 2).join('\n'))

test('every command for operators runs, in one shell, also after a restart', async () => {
  const printed = await start(blockWith('README.md', 'bun run start'), /lgw_test_\w{30,}\W/)
  ;[testKey = ''] = /lgw_test_\w+/.exec(printed) ?? []
  const README = adapt(blockWith('README.md', 'create-project')).replaceAll('acme', 'first')
  const operating = adapt(blockWith('docs/operating.md', 'run() {'))
  const [created, ...rest] = operating.split(/(?<=create-key\.sql\n)/)
  const lines = [
    `TEST_KEY=${testKey} SECRET=sk-a-secret-of-a-provider`,
    // Makes curl fail on an error status.
    'curl() { command curl -f "$@"; }',
    adapt(blockWith('README.md', 'curl -i')),
    // The header is omitted, as a reader may do: curl then labels JSON as a form.
    `curl -sf http://127.0.0.1:${PORT}/v1/chat/completions -H "Authorization: Bearer $TEST_KEY" -d '{"model":"m/m","messages":[{"role":"user","content":"Hi"}]}'`,
    README,
    // The printed key is the one that is deactivated later.
    String(created).replace(/^run .*create-key\.sql$/m, line => `KEY=$(${line})`),
    rest.join(''),
    adapt(blockWith('docs/budgets.md', 'set-budget.sql')),
    adapt(blockWith('docs/providers.md', 'set-provider-key.sh')),
    adapt(blockWith('docs/providers.md', 'name=second')),
    adapt(blockWith('docs/providers.md', 'set-vendor')),
    adapt(blockWith('docs/providers.md', 'setting=first_token_timeout_ms')),
    adapt(blockWith('docs/providers.md', 'setting=streams')),
    adapt(blockWith('docs/providers.md', 'setting=anthropic_cache_marks')),
    adapt(blockWith('docs/providers.md', 'setting=aliases')),
    adapt(blockWith('docs/providers.md', 'setting=fallbacks')),
    adapt(blockWith('docs/admin.md', 'create-admin ')),
    adapt(blockWith('docs/admin.md', 'project_api_keys')),
    adapt(blockWith('docs/requests.md', 'find_requests')),
    adapt(blockWith('docs/sharing.md', 'cache_scope')),
    adapt(blockWith('docs/sharing.md', 'setting=seal_answers')),
    adapt(blockWith('docs/sharing.md', 'version=docs')),
    adapt(blockWith('docs/sharing.md', 'user=alice -v dry_run')),
    adapt(blockWith('docs/sharing.md', 'forget-user.sql')),
    adapt(blockWith('docs/operating.md', 'bun run report')).replace('acme.html', `${DATA_DIR}/acme.html`),
    adapt(blockWith('docs/operating.md', 'bun run audit')),
    `URL=http://127.0.0.1:${PORT} OWNED=$KEY KEY=$TEST_KEY`,
    ...['What is the capital of Peru?', 'what is the capital of peru'].map(
      text =>
        `HIT=$(curl -sf -o /dev/null -D - $URL/v1/chat/completions -H "Authorization: Bearer $KEY" -d '{"model":"m/m","messages":[{"role":"user","content":"${text}"}]}' | tr -d '\\r' | sed -n 's/^x-request-id: //ip')`,
    ),
    adapt(blockWith('docs/semantic-cache.md', 'scripts/feedback.sql'))
      .replace('<X-Request-Id of the hit>', `'"$HIT"'`)
      .replace('project=acme -v setting', 'project=demo -v setting')
      .replace('project=acme -v request_id=…', 'project=demo -v request_id=$HIT'),
    'KEY=$OWNED',
    `PROXY=$URL ADMIN_KEY=$(run -v email=ada@example.org -v name=docs -f scripts/create-admin-key.sql)`,
    adapt(blockWith('docs/webhooks.md', '/webhooks"')),
    'run -v project=acme -f scripts/list-deliveries.sql',
    'bun run migrate',
    'bun run reseal',
    'bun run catalogue:sync --dry-run',
    'printf %s "$SECRET" | scripts/set-provider-key.sh acme openai',
    'echo "all of it"',
  ]
  expect(await shell(lines.join('\n'))).toContain('all of it')
  await stop()
  // The variables that the docs export are still set: for scripts without a proxy, and for the proxy itself.
  const after = [
    EXPORTS,
    'bun run migrate',
    'printf %s sk-another-secret | scripts/set-provider-key.sh acme groq',
    'bun run reseal',
  ]
  expect(await shell(after.join('\n'))).toContain('3 unchanged')
  await start(`${EXPORTS}\nexec bun src/process/server.ts`)
  expect(await shell(`${EXPORTS}\npsql "$DATABASE_URL" -qAt -c "select count(*) from provider_keys"`)).toBe('2\n')
}, 300_000)

/** Copies from the embedded database too, through the port for psql. */
const CARRY = blockWith('docs/operating.md', 'carry() {')
describeReal('projects of an older database', backend => {
  test('are moved to a new one, including keys', async () => {
    const { database, databaseUrl } = await backend.open()
    const lines = [EXPORTS, `OLD=$DATABASE_URL NEW=${databaseUrl}`, CARRY]
    await shell(lines.join('\n'))
    const count =
      'select (select count(*) from projects), (select count(*) from api_keys), (select count(*) from users)'
    const old = await shell(`${EXPORTS}\npsql "$DATABASE_URL" -qAtc '${count}'`)
    expect(await shell(`psql ${databaseUrl} -qAtc '${count}'`)).toBe(old)
    expect(old).toMatch(/^[1-9]\d*\|[1-9]\d*\|[1-9]/)
    // New projects get new ids.
    await callFunction(database, 'create_project', { project: 'after', plan: 'free' })
    await stop()
    await start(
      `DATABASE_URL=${databaseUrl} ENCRYPTION_KEY=$(cat ${DATA_DIR}/encryption.key) exec bun src/process/server.ts`,
    )
    const body = JSON.stringify({ model: 'm/m', messages: [{ role: 'user', content: 'Hi' }] })
    const headers = { authorization: `Bearer ${testKey}` }
    const response = await fetch(`http://127.0.0.1:${PORT}/v1/chat/completions`, { method: 'POST', headers, body })
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('[sandbox]')])
  }, 120_000)
})

test('the hook of the docs starts beside a proxy, and rejects a card number', async () => {
  await stop()
  const block = blockWith('docs/hooks.md', 'examples/hook/hook.ts').replaceAll('8700', String(findFreePort()))
  await start(`trap 'kill %1' EXIT\n${block}`)
  const ask = (content: string) =>
    fetch(`http://127.0.0.1:${PORT}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}` },
      body: JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }] }),
    })
  await waitUntil('the hook responds', async () => (await ask('Hello?')).status === 200)
  const refused = await ask('Pay with 4111 1111 1111 1111')
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('holds a card number')])
  await stop()
}, 120_000)

test('every shell block of README and docs runs here, or in a named test', () => {
  const left = PAGES.flatMap(blocksOf).filter(block => !taken.has(block))
  const parts = Object.keys(ELSEWHERE)
  expect(left.filter(block => !parts.some(part => block.includes(part)))).toEqual([])
  expect(parts.filter(part => !left.some(block => block.includes(part)))).toEqual([])
  for (const [part, file] of Object.entries(ELSEWHERE)) {
    const text = readFileSync(join(ROOT, file), 'utf8')
    // A test that reads the block from the page runs all of its words.
    if (text.includes(`findBlock(`) && text.includes(`'${part}'`)) continue
    const words = commandWords(left.find(block => block.includes(part)) ?? '')
    expect(words.length).toBeGreaterThan(2)
    expect([file, words.filter(word => !text.includes(word))]).toEqual([file, []])
  }
})
