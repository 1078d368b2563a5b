import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, type ClientRequest, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { type ProxyProcess, startProxyProcess } from '../faults/proxy-process.ts'
import { ask } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { embeddedUrl } from '../harness/embedded-url.ts'
import { fillDataDir } from '../harness/fill-data-dir.ts'
import { waitUntil } from '../harness/wait-until.ts'

const WAITING = 500
const SAMPLES = 200

const hello = (model: string, content: string) => ({ model, messages: [{ role: 'user', content }] })

describe('requests that wait for a dead upstream', () => {
  let dataDir: string
  const upstreams = duringTests(startUpstreams)
  let proxy: ProxyProcess
  let key: string
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  const waiting: ClientRequest[] = []

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'model-proxy-dead-'))
    await fillDataDir(dataDir)
    const port = String(findFreePort())
    // The proxy is a separate process, so that it does not share a thread or the limit on connections with client and upstream.
    const settings = { DATA_DIR: dataDir, EMBEDDED_PG_PORT: port, LOG_LEVEL: 'warn' }
    proxy = await startProxyProcess({ ...settings, ...upstreams.environment })
    const database = openServerDatabase({ url: await embeddedUrl(dataDir, port), maxConnections: 1 })
    await callFunction(database, 'create_project', { project: 'acme', plan: 'enterprise' })
    key = await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'test' })
    await storeKey({ database }, 'acme', 'openai', 'sk-own')
    await database.close()
  })
  afterAll(async () => {
    for (const one of waiting) one.destroy()
    proxy.signal('SIGKILL')
    await rm(dataDir, { recursive: true, force: true })
  })

  /** Sends a request and does not wait for its response. */
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

  /** Processor time that the proxy uses for a series of requests; 0 where the system does not report it. */
  async function processorMsOf(askOnce: (n: number) => Promise<void>): Promise<number> {
    const before = readProcessorMs(proxy.pid)
    for (let n = 0; n < SAMPLES; n++) await askOnce(n)
    return readProcessorMs(proxy.pid) - before
  }

  async function hit(): Promise<void> {
    expect((await ask(proxy, key, hello('gpt-4o-mini', 'What is known?'))).cache).toBe('HIT')
  }
  async function missElsewhere(n: number): Promise<void> {
    const { status, headers } = await ask(proxy, key, hello('gpt-4o-mini', `Something new ${n} ${crypto.randomUUID()}`))
    expect([status, headers.get('x-proxy-provider')]).toEqual([200, 'openai'])
  }

  test(`${WAITING} of them do not slow exact hits, or other upstreams`, async () => {
    await ask(proxy, key, hello('gpt-4o-mini', 'What is known?'))
    await processorMsOf(hit)
    const usual = { hit: await processorMsOf(hit), miss: await processorMsOf(missElsewhere) }

    upstreams.aggregator.script({ kind: 'hang', after: 'nothing' })
    for (let n = 0; n < WAITING; n++) wait(n)
    await waitUntil('all requests wait for the upstream', () => upstreams.aggregator.counts.active === WAITING)

    // The waiting requests are never answered, so a request in the same queue would not be either.
    const beside = { hit: await processorMsOf(hit), miss: await processorMsOf(missElsewhere) }
    expect(upstreams.aggregator.counts.active).toBe(WAITING)
    // The limit is loose: a search through 500 others each time would take far longer.
    expect(beside.hit).toBeLessThan(usual.hit * 3 + SAMPLES)
    expect(beside.miss).toBeLessThan(usual.miss * 3 + SAMPLES)

    // The upstream calls of disconnected clients continue for at most ten minutes, because their usage is charged.
    for (const one of waiting) one.destroy()
    const left = await processorMsOf(hit)
    expect(left).toBeLessThan(usual.hit * 3 + SAMPLES)
  })
})

/** Processor time of all threads of the process: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function readProcessorMs(pid: number): number {
  const path = `/proc/${pid}/stat`
  if (!existsSync(path)) return 0
  const fields = readFileSync(path, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  const MS_PER_TICK = 10
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
}
