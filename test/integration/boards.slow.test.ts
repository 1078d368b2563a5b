/** The public boards' entries: the proxy, started as a board starts it, answers each pair of formats and each scenario's name. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { ROOT } from '../harness/docs-blocks.ts'
import { duringTests } from '../harness/during-tests.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'

const FOLDER = join(ROOT, 'scripts/bench/boards')
const definition = JSON.parse(readFileSync(join(FOLDER, 'on-the-bench/definition.json'), 'utf8'))
const system = readFileSync(join(FOLDER, 'failoverbench/model-proxy.yaml'), 'utf8')

const upstreams = duringTests(startUpstreams)
const started: Bun.Subprocess[] = []
afterAll(async () => {
  for (const child of started) child.kill()
  await Promise.all(started.map(child => child.exited))
})

/** Prepares the database and starts the proxy. Returns its address, which it prints. */
async function start(board: string, environment: Record<string, string>): Promise<string> {
  const env = {
    ...bareEnvironment(),
    ...{ DATA_DIR: createTemporaryDirectory(), EMBEDDED_PG_PORT: '0', PORT: '0' },
    ...environment,
  }
  const prepared = Bun.spawn(['bun', join(FOLDER, 'prepare.ts'), board], { cwd: ROOT, env })
  expect(await prepared.exited).toBe(0)
  const child = Bun.spawn([join(FOLDER, 'start.sh')], { env, stdout: 'pipe' })
  started.push(child)
  let printed = ''
  for await (const bytes of child.stdout) {
    printed += new TextDecoder().decode(bytes)
    const address = /listens at (\S+)\/v1\n/.exec(printed)?.[1]
    if (address) return address
  }
  throw new Error(`The proxy did not start:\n${printed}`)
}

const TEXT = [{ role: 'user', content: 'Hello' }]
/** Request and response of each format, in the order of the board's rows. */
const FORMATS = [
  {
    path: () => '/v1/chat/completions',
    body: (model: string) => ({ model, messages: TEXT, max_tokens: 16 }),
    part: 'choices',
  },
  {
    path: () => '/v1/responses',
    body: (model: string) => ({ model, input: 'Hello', max_output_tokens: 16 }),
    part: 'output',
  },
  { path: () => '/v1/messages', body: (model: string) => ({ model, messages: TEXT, max_tokens: 16 }), part: 'content' },
  {
    path: (model: string) => `/v1beta/models/${model}:generateContent`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }),
    part: 'candidates',
  },
]

const post = (url: string, key: string, body: object) =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

test('On the Bench: every pair of formats that the matrix claims is served, through the vendor’s own format', async () => {
  const { OPENAI_BASE_URL = '', ANTHROPIC_BASE_URL = '' } = upstreams.environment
  const settings = readFileSync(join(FOLDER, 'on-the-bench/env'), 'utf8')
    .split('\n')
    .filter(line => line.includes('=') && !line.startsWith('PORT='))
    .map(line => line.split('=') as [string, string])
  const addresses: Record<string, string> = {
    ANTHROPIC_BASE_URL,
    ...Object.fromEntries(['OPENAI_BASE_URL', 'RESPONSES_BASE_URL'].map(name => [name, OPENAI_BASE_URL])),
  }
  const address = await start('on-the-bench', {
    ...Object.fromEntries(settings.map(([name, value]) => [name, addresses[name] ?? value])),
  })
  const models = ['', '-responses', '-anthropic', '-gemini', '-cohere', '-bedrock'].map(
    suffix => definition.model + suffix,
  )
  const served: string[] = []
  for (const { path, body, part } of FORMATS) {
    let row = ''
    for (const model of models) {
      const response = await post(`${address}${path(model)}`, definition.auth, body(model))
      row += response.status === 200 && ((await response.json()) as object as Record<string, unknown>)[part] ? '1' : '0'
    }
    served.push(row)
  }
  expect([...served, '000000', '000000']).toEqual(definition.matrix)
  const paths = upstreams.openai.requests.map(({ path }) => path)
  expect(new Set(paths)).toEqual(new Set(['/v1/chat/completions', '/v1/responses']))
  expect(upstreams.anthropic.requests.length).toBeGreaterThanOrEqual(FORMATS.length)
  // Without a cache: an identical request calls the vendor again.
  const before = upstreams.openai.requests.length
  const again = () => post(`${address}${definition.path}`, definition.auth, { model: definition.model, messages: TEXT })
  await Promise.all([await again(), await again()])
  expect(upstreams.openai.requests.length).toBe(before + 2)
}, 300_000)

test('failoverbench: its names are models with the fallback of each scenario', async () => {
  const key = /^ {2}api_key: (.*)$/m.exec(system)?.[1] ?? ''
  const wall = upstreams.openai
  const address = await start('failoverbench', { WALL_BASE_URL: wall.baseUrl })
  wall.reset()
  wall.script(({ bodyText }) =>
    /fb-s/.test(bodyText) ? { kind: 'error', status: 400, code: 'context_length_exceeded' } : { kind: 'answer' },
  )
  for (const [model, fallback] of [
    ['fb-s12-context-length', 'fb-ok'],
    ['fb-s14-stream-cut', 'fb-ok-noprefill'],
  ] as const) {
    const response = await post(`${address}/v1/chat/completions`, key, { model, messages: TEXT })
    expect(response.status).toBe(200)
    expect(((await response.json()) as { model: string }).model).toBe(fallback)
  }
  const asked = wall.requests.map(({ bodyText }) => (JSON.parse(bodyText) as { model: string }).model)
  expect(asked).toEqual(['fb-s12-context-length', 'fb-ok', 'fb-s14-stream-cut', 'fb-ok-noprefill'])
}, 300_000)
