import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { findFreePort, startProxyProcess, stop } from '../../scripts/bench/processes.ts'
import { MAX_MAIN_THREAD_BYTES } from '../../src/event-loop/worker-pool.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeOnce } from '../harness/backends.ts'
import { type Answer, ask } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { embeddedUrl } from '../harness/embedded-url.ts'
import { startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { sendWithoutReading } from './streaming/raw-client.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** Base64 text of this length, different for each seed. */
function base64Of(length: number, seed: number): string {
  const bytes = Buffer.alloc(Math.ceil(length / 4) * 3)
  let state = seed * 2_654_435_761 + 1
  for (let at = 0; at < bytes.length; at += 4) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    bytes.writeUInt32LE(state, Math.min(at, bytes.length - 4))
  }
  return bytes.toString('base64').slice(0, length)
}

/** The same text with another character in the middle. */
function changeOne(text: string): string {
  const at = text.length >> 1
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`
}

interface Part {
  type: string
  [field: string]: unknown
}

function showing(text: string, ...parts: Part[]) {
  return { model: 'openai/gpt-4o', messages: [{ role: 'user', content: [{ type: 'text', text }, ...parts] }] }
}

const imageUrl = (url: string, detail = 'high'): Part => ({ type: 'image_url', image_url: { url, detail } })
const image = (data: string): Part => imageUrl(`data:image/png;base64,${data}`)
const audio = (data: string): Part => ({ type: 'input_audio', input_audio: { data, format: 'wav' } })
const file = (data: string, filename = 'report.pdf'): Part => ({
  type: 'file',
  file: { filename, file_data: `data:application/pdf;base64,${data}` },
})

describeOnce('requests with more than text', backend => {
  const upstream = duringTests(startFakeProvider)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstream.environment }))
  let key: string

  beforeAll(async () => {
    key = await proxy.createKey({ type: 'project', settings: { semantic_threshold: '0.5' } })
  })

  const large = base64Of(MIB, 1)
  const cases: [string, Part, Part][] = [
    ['an image by its URL', imageUrl('https://example.org/a.png'), imageUrl('https://example.org/b.png')],
    [
      'how closely to look at an image',
      imageUrl('https://example.org/a.png'),
      imageUrl('https://example.org/a.png', 'low'),
    ],
    ['an image of 1 MiB', image(large), image(changeOne(large))],
    ['speech of 1 MiB', audio(large), audio(changeOne(large))],
    ['a file of 1 MiB', file(large), file(changeOne(large))],
    ["a file's name", file('AAAA'), file('AAAA', 'other.pdf')],
    ['a part of a kind never seen', { type: 'smell', smell: { of: 'rain' } }, { type: 'smell', smell: { of: 'hay' } }],
  ]

  test.each(cases)('%s counts: the same again is a HIT, another is a MISS', async (name, part, other) => {
    const text = `What is this? (${name.replaceAll(/\d+/g, 'some')})`
    const caches = async (...bodies: Record<string, unknown>[]) => {
      const answers: Answer[] = []
      for (const body of bodies) answers.push(await ask(proxy, key, body))
      return answers.map(answer => answer.cache)
    }
    const sent = showing(text, part)
    expect(await caches(sent, sent, { ...sent, stream: true })).toEqual(['MISS', 'HIT', 'HIT'])
    expect(upstream.requests.at(-1)?.bodyText).toBe(JSON.stringify(sent))
    expect(await caches(showing(text, other), showing(text, other))).toEqual(['MISS', 'HIT'])
    expect(await caches(sent)).toEqual(['HIT'])
  })

  test('the order of parts counts, and so does their repetition', async () => {
    const [a, b] = [image('AAAA'), image('BBBB')]
    const bodies = [[a, b], [b, a], [a], [a, a], [a, b, b]].map(parts => showing('Which comes first?', ...parts))
    for (const body of bodies) expect((await ask(proxy, key, body)).cache).toBe('MISS')
    for (const body of bodies) expect((await ask(proxy, key, body)).cache).toBe('HIT')
  })

  test('a similar question about the same image is a semantic hit; about another it is none', async () => {
    const small = base64Of(MAX_MAIN_THREAD_BYTES / 2, 1)
    const [one, another] = [image(small), image(changeOne(small))]
    const question = 'Explain what my kids are doing on this picture'
    const reworded = 'Explain what my children are doing on this picture'
    const first = await ask(proxy, key, showing(question, one))
    expect(first.cache).toBe('MISS')
    expect((await ask(proxy, key, showing(reworded, another))).cache).toBe('MISS')
    const similar = await ask(proxy, key, showing(reworded, one))
    expect(similar.cache).toBe('HIT-SEMANTIC')
    expect(similar.json.id).toBe(first.json.id)
    const sameWords = await ask(proxy, key, showing(`Please ${question.toLowerCase()}`, one))
    expect(sameWords.cache).toBe('HIT-SEMANTIC')
    expect(sameWords.headers.get('x-proxy-cache-similarity')).toBe('1.0000')
  })

  test('a question about a large image matches exactly or not at all', async () => {
    const [question, reworded] = ['What stands on the table?', 'Please, what stands on the table?']
    expect((await ask(proxy, key, showing(question, image(large)))).cache).toBe('MISS')
    expect((await ask(proxy, key, showing(question, image(large)))).cache).toBe('HIT')
    const again = await ask(proxy, key, showing(reworded, image(large)))
    expect([again.cache, again.headers.get('x-proxy-cache-reason')]).toEqual(['MISS', 'no-candidate'])
  })

  test('a long text matches exactly or not at all', async () => {
    const document = 'All work and no play makes Jack a dull boy. '.repeat(2_000)
    const sent = { model: 'openai/gpt-4o', messages: [{ role: 'user', content: document }] }
    const other = { ...sent, messages: [{ role: 'user', content: `Please ${document}` }] }
    const caches: (string | null)[] = []
    for (const body of [sent, sent, other, other]) caches.push((await ask(proxy, key, body)).cache)
    expect(caches).toEqual(['MISS', 'HIT', 'MISS', 'HIT'])
  })

  test('a body larger than allowed is rejected, whatever is in it', async () => {
    const body = showing('What is this?', image(base64Of(33 * MIB, 2)))
    expect((await ask(proxy, key, body)).status).toBe(413)
  })
})

/** The proxy is a separate process, so that its memory does not include the test's. */
describeOnce('the memory of a proxy', backend => {
  const BODIES = 24
  const AT_ONCE = 3
  /** If all bodies stayed in memory, they would take at least eight times as much. */
  const LEVEL_MIB = 64
  /** Garbage is collected and returned to the system some seconds after the last body. */
  const SETTLE_LIMIT_MS = 20_000
  // Where there are real stores, they are used alone: the embedded database's own memory varies.
  const isSpared = process.platform !== 'linux' || (inject('real') !== null && backend.name === 'embedded')
  let folder: string
  const upstream = duringTests(() => startFakeProvider({ keepsRequests: false }))
  let child: Subprocess
  let baseUrl: string
  let key: string

  beforeAll(async () => {
    if (isSpared) return
    const { database, databaseUrl, redisUrl } = await backend.open()
    folder = await mkdtemp(join(tmpdir(), 'model-proxy-bodies-'))
    const [port, psqlPort] = [findFreePort(), findFreePort()]
    const environment = {
      DATABASE_URL: databaseUrl ?? '',
      REDIS_URL: redisUrl ?? '',
      DATA_DIR: folder,
      EMBEDDED_PG_PORT: String(psqlPort),
      ...upstream.environment,
    }
    child = await startProxyProcess(environment, port)
    baseUrl = `http://127.0.0.1:${port}/v1`
    const own = databaseUrl ? null : openServerDatabase({ url: await embeddedUrl(folder, psqlPort) })
    await callFunction(own ?? database, 'create_project', { project: 'large', plan: 'enterprise' })
    key = await callFunction(own ?? database, 'issue_key', { project: 'large', key_type: 'project', key_name: 'large' })
    await own?.close()
  })
  afterAll(async () => {
    if (isSpared) return
    await stop(child)
    await rm(folder, { recursive: true, force: true })
  })

  function readRssMib(): number {
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
    return Number(kib) / 1024
  }

  async function sendAll(): Promise<void> {
    let next = 0
    const send = async () => {
      while (next < BODIES) {
        const body = showing('What is this?', image(base64Of(KIB, next++).repeat(8 * KIB)))
        const { status, cache } = await ask({ baseUrl }, key, body)
        expect([status, cache]).toEqual([200, 'MISS'])
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, send))
  }

  test.skipIf(isSpared)('holds little of a long response that its client does not read', async () => {
    const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(MIB) } }] })}\n\n`
    for (let n = 0; n < 50; n++) await ask({ baseUrl }, key, `Are you warm? (${n})`)
    const levelMib = readRssMib()
    upstream.script({ kind: 'raw', parts: Array<string>(96).fill(event) })
    const client = await sendWithoutReading(Number(new URL(baseUrl).port), key, {
      ...showing('Tell me everything!'),
      stream: true,
    })
    await waitUntil('the upstream receives the request', () => upstream.counts.active === 1)
    await Bun.sleep(1_500)
    expect(upstream.counts.active).toBe(1)
    expect(readRssMib() - levelMib).toBeLessThan(LEVEL_MIB / 2)
    client.leave()
    await waitUntil('the upstream call is ended', () => upstream.counts.active === 0)
    upstream.reset()
  })

  test.skipIf(isSpared)(`returns to its level after ${BODIES} bodies of 8 MiB`, async () => {
    for (let n = 0; n < 50; n++) await ask({ baseUrl }, key, `Are you still warm? (${n})`)
    const levelMib = readRssMib()
    await sendAll()
    const sentAtMs = performance.now()
    while (readRssMib() > levelMib + LEVEL_MIB && performance.now() - sentAtMs < SETTLE_LIMIT_MS) {
      await ask({ baseUrl }, key, 'Are you still there?')
      await Bun.sleep(250)
    }
    expect(readRssMib()).toBeLessThan(levelMib + LEVEL_MIB)
  })
})
