/** Go's clients, unmodified but for address and key: one program holds all conversations. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createInProcessStore } from '../../../src/stores/in-process-store.ts'
import { startUpstreams, storeKey, type Upstreams } from '../../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'
import { takeEmbedded } from '../../harness/take-embedded.ts'
import { temporaryFolder } from '../../harness/temporary-folder.ts'
import { callWeather } from '../weather-tool.ts'

const go = Bun.which('go')
if (!go) process.stdout.write('Go’s clients are skipped: there is no Go.\n')

describe.skipIf(!go)('Go’s clients', () => {
  const program = join(temporaryFolder(), 'clients')
  let upstreams: Upstreams
  let proxy: TestProxy

  beforeAll(async () => {
    const building = Bun.spawn([go ?? '', 'build', '-o', program, '.'], { cwd: import.meta.dirname, stderr: 'pipe' })
    if ((await building.exited) !== 0) throw new Error(await new Response(building.stderr).text())
    upstreams = await startUpstreams()
    callWeather(upstreams)
    const store = createInProcessStore()
    const stores = { database: await takeEmbedded(), store, databaseUrl: null, redisUrl: null }
    proxy = await startProxy({ stores, environment: upstreams.environment })
  }, 900_000)
  afterAll(async () => {
    await proxy?.stop()
    await upstreams?.stop()
  })

  test('hold conversations at every door, of every provider’s models', async () => {
    const direct = await proxy.createKey({ project: 'direct', type: 'project' })
    await storeKey(proxy.stores, 'direct', 'openai', 'sk-own')
    await storeKey(proxy.stores, 'direct', 'anthropic', 'sk-ant-own')
    const env = {
      PROXY_ROOT: proxy.baseUrl.replace(/\/v1$/, ''),
      PROXY_KEY_DIRECT: direct,
      PROXY_KEY_AGGREGATOR: await proxy.createKey({ type: 'project' }),
    }
    const running = Bun.spawn([program], { env, stdout: 'pipe' })
    const lines = (await new Response(running.stdout).text()).trim().split('\n')
    expect(lines.filter(line => !line.startsWith('PASSED'))).toEqual([])
    expect(lines).toHaveLength(2 * 2 * 8 + 1)
  }, 60_000)
})
