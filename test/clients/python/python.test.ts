/** Python clients; only their base URL and key are changed. Each package has its own tests, and pytest runs once. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createInProcessStore } from '../../../src/stores/in-process-store.ts'
import { type RealtimeUpstream, startRealtime } from '../../fake-provider/realtime.ts'
import type { Stores } from '../../harness/backends.ts'
import { startUpstreams, storeKey, type Upstreams } from '../../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'
import { openSharedEmbedded } from '../../harness/shared-embedded.ts'
import { callWeather } from '../weather-tool.ts'
import { type Python, preparePython, run } from './prepare-python.ts'

const prepared = await preparePython()
if ('missing' in prepared) process.stdout.write(`Python's clients are skipped: ${prepared.missing}.\n`)

/** Disables telemetry and requests to vendors. */
const QUIET = {
  AGNO_TELEMETRY: 'false',
  LANGSMITH_TRACING: 'false',
  LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  OPENAI_AGENTS_DISABLE_TRACING: '1',
}
const FILES = [...new Bun.Glob('test_*.py').scanSync(new URL('.', import.meta.url).pathname)].sort()

/** Embedded stores are sufficient, because the wire format does not depend on the stores. */
async function openStores(): Promise<Stores> {
  return { database: await openSharedEmbedded(), store: createInProcessStore(), databaseUrl: null, redisUrl: null }
}

/** Returns pytest's line for each case. */
async function runAll(
  proxy: TestProxy,
  realtimeProxy: TestProxy,
  { python, environment: compiled }: Python,
): Promise<string[]> {
  const direct = await proxy.createKey({ project: 'direct', type: 'project' })
  await storeKey(proxy.stores, 'direct', 'openai', 'sk-own')
  await storeKey(proxy.stores, 'direct', 'anthropic', 'sk-ant-own')
  const environment = {
    ...QUIET,
    ...compiled,
    PROXY_BASE_URL: proxy.baseUrl,
    PROXY_REALTIME_URL: realtimeProxy.baseUrl.replace('http', 'ws'),
    PROXY_KEY_DIRECT: direct,
    PROXY_KEY_AGGREGATOR: await proxy.createKey({ type: 'project' }),
    PROXY_KEY_SANDBOX: await proxy.createKey({ type: 'test' }),
  }
  // Failures are read from pytest's lines, which contain the reason.
  const output = await run([python, '-m', 'pytest', '.', '-rA', '--tb=line', '--show-capture=no'], environment).catch(
    String,
  )
  return output.split('\n')
}

describe.skipIf('missing' in prepared)('Python clients', () => {
  let upstreams: Upstreams
  let stores: Stores
  let proxy: TestProxy
  let realtime: RealtimeUpstream
  let realtimeProxy: TestProxy
  let lines: string[] = []

  beforeAll(async () => {
    if ('missing' in prepared) return
    upstreams = await startUpstreams()
    callWeather(upstreams)
    stores = await openStores()
    proxy = await startProxy({ stores, environment: upstreams.environment })
    realtime = startRealtime({ apiKey: 'sk-own' })
    const environment = { ...upstreams.environment, OPENAI_BASE_URL: realtime.baseUrl }
    realtimeProxy = await startProxy({ stores, environment })
    lines = await runAll(proxy, realtimeProxy, prepared)
  }, 300_000)
  afterAll(async () => {
    await Promise.all([proxy?.stop(), realtimeProxy?.stop()])
    await Promise.all([upstreams?.stop(), realtime?.stop(), stores?.store.close()])
  })

  test.each(FILES)('%s', file => {
    const of = (outcome: string) => lines.filter(line => line.startsWith(`${outcome} ${file}`))
    expect([...of('FAILED'), ...of('ERROR')]).toEqual([])
    expect(of('PASSED').length).toBeGreaterThan(2)
  })
})
