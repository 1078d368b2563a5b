/** Odd values where the vendors' packages know a field: a 4xx in JSON, or passed on. `odd-values.slow.test.ts` tries more of them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { startUpstreams, type Upstreams } from '../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { describeOddValues, findFault, type OddTargets, openOddTargets } from './odd-values.ts'

describeOnce('odd values', backend => {
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

  // Those that translate.
  describeOddValues(() => targets, { ways: ['anthropic', 'groq', 'sandbox'], values: 1 })

  /** As text: one name cannot be written in an object of JavaScript. */
  const ODD_LINES = ['constructor', '__proto__', 'toString', ''].flatMap(url => [
    JSON.stringify({ custom_id: 'a', method: 'POST', url, body: { model: 'gpt-4o-mini', messages: [] } }),
    JSON.stringify({ custom_id: 'a', method: 'POST', url, body: { model: url, max_tokens: { toString: 1 } } }),
    `{"custom_id":"a","method":"POST","url":"/v1/responses","body":{"model":"gpt-4o-mini","__proto__":"${url}"}}`,
  ])

  test.each(ODD_LINES)('a batch of %s, where a budget looks at its size', async line => {
    await proxy.query(`select set_budget('a', 'usd', 100, 'month')`)
    const form = new FormData()
    form.set('purpose', 'batch')
    form.set('__proto__', 'x')
    form.set('constructor', 'x')
    form.set('file', new File([line], 'in.jsonl'))
    const headers = { authorization: `Bearer ${targets.key}` }
    const uploaded = await fetch(`${proxy.baseUrl}/files`, { method: 'POST', headers, body: form })
    expect(uploaded.status).toBeLessThan(500)
    const { id } = (await uploaded.json()) as { id?: string }
    const asked = JSON.stringify({ input_file_id: id ?? 'x', endpoint: '/v1/responses', completion_window: '24h' })
    expect(await findFault(targets, '/batches', targets.key, asked)).toBeNull()
  })
})
