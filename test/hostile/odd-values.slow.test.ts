/** Odd values where the vendors' packages know a field, on every way to a provider. */
import { afterAll, beforeAll } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { startUpstreams, type Upstreams } from '../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { describeOddValues, type OddTargets, openOddTargets } from './odd-values.ts'

describeOnce('odd values on every way', backend => {
  let upstreams: Upstreams
  let proxy: TestProxy
  let targets: OddTargets

  beforeAll(async () => {
    upstreams = await startUpstreams()
    const stores = await backend.open()
    proxy = await startProxy({ stores, environment: upstreams.environment })
    targets = await openOddTargets(proxy, stores)
  })
  afterAll(async () => {
    await proxy.stop()
    await upstreams.stop()
  })

  describeOddValues(() => targets, { ways: ['openai', 'anthropic', 'groq', 'aggregator', 'sandbox'], values: 3 })
})
