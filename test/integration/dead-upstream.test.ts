import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, type ClientRequest, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { createProject, issueKey } from '../../src/postgres/projects.ts'
import { openRealDatabase } from '../../src/postgres/real.ts'
import { type ProxyProcess, startProxyProcess } from '../faults/proxy-process.ts'
import { ask } from '../harness/client.ts'
import { startUpstreams, storeKey, type Upstreams } from '../harness/direct-upstreams.ts'
import { embeddedUrl } from '../harness/embedded-url.ts'

const WAITING = 500
const SAMPLES = 200

const hello = (model: string, content: string) => ({ model, messages: [{ role: 'user', content }] })

describe('requests that wait for a dead upstream', () => {
  let dataDir: string
  let upstreams: Upstreams
  let proxy: ProxyProcess
  let key: string
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  const waiting: ClientRequest[] = []

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'model-proxy-dead-'))
    upstreams = await startUpstreams()
    const port = String(findFreePort())
    // A process of its own: client and upstream must not share its thread, nor its limit on connections.
    const settings = {
      DATA_DIR: dataDir,
      EMBEDDED_PG_PORT: port,
      BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
      LOG_LEVEL: 'warn',
    }
    proxy = await startProxyProcess({ ...settings, ...upstreams.environment })
    const database = openRealDatabase({ url: await embeddedUrl(dataDir, port), maxConnections: 1 })
    await createProject(database, 'acme', 'enterprise')
    key = await issueKey(database, 'acme', 'project', 'test')
    await storeKey({ database }, 'acme', 'openai', 'sk-own')
    await database.close()
  })
  afterAll(async () => {
    for (const one of waiting) one.destroy()
    proxy.signal('SIGKILL')
    await upstreams.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  /** Sends and looks no further. */
  function wait(n: number): void {
    const sent = httpRequest(`${proxy.baseUrl}/chat/completions`, {
      method: 'POST',
      agent,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    })
    sent.on('error', () => {})
    sent.end(JSON.stringify(hello('openai/gpt-4o-mini', `Is anybody there? ${n}`)))
    waiting.push(sent)
  }

  /** Milliseconds of the middle one of many, one after the other. */
  async function medianOf(askOnce: (n: number) => Promise<void>): Promise<number> {
    const times: number[] = []
    for (let n = 0; n < SAMPLES; n++) {
      const startedAt = performance.now()
      await askOnce(n)
      times.push(performance.now() - startedAt)
    }
    return times.toSorted((a, b) => a - b)[SAMPLES / 2] ?? 0
  }

  async function hit(): Promise<void> {
    expect((await ask(proxy, key, hello('gpt-4o-mini', 'What is known?'))).cache).toBe('HIT')
  }
  async function missElsewhere(n: number): Promise<void> {
    const { status, headers } = await ask(proxy, key, hello('gpt-4o-mini', `Something new ${n} ${crypto.randomUUID()}`))
    expect([status, headers.get('x-proxy-provider')]).toEqual([200, 'openai'])
  }

  test(`${WAITING} of them leave exact hits, and other upstreams, at their usual latency`, async () => {
    await ask(proxy, key, hello('gpt-4o-mini', 'What is known?'))
    await medianOf(hit)
    const usual = { hit: await medianOf(hit), miss: await medianOf(missElsewhere) }

    upstreams.aggregator.script({ kind: 'hang', after: 'nothing' })
    for (let n = 0; n < WAITING; n++) wait(n)
    const deadlineMs = performance.now() + 20_000
    while (upstreams.aggregator.counts.active < WAITING && performance.now() < deadlineMs) await Bun.sleep(20)
    expect(upstreams.aggregator.counts.active).toBe(WAITING)

    const beside = { hit: await medianOf(hit), miss: await medianOf(missElsewhere) }
    expect(upstreams.aggregator.counts.active).toBe(WAITING)
    // Loosely, as the machine may be busy: what waits behind 500 others would take far longer.
    expect(beside.hit).toBeLessThan(usual.hit * 3 + 10)
    expect(beside.miss).toBeLessThan(usual.miss * 3 + 20)

    for (const one of waiting) one.destroy()
    const leftAtMs = performance.now()
    while (upstreams.aggregator.counts.active > 0 && performance.now() - leftAtMs < 10_000) await Bun.sleep(10)
    expect(upstreams.aggregator.counts.active).toBe(0)
  }, 90_000)
})
