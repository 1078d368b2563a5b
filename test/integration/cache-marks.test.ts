/** A project has its prompts marked for Anthropic's cache. */
import { beforeAll, expect, test } from 'vitest'
import { describeEmbedded } from '../harness/backends.ts'
import { post, readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const LONG = 'word '.repeat(60_000)
const model = 'claude-haiku-4-5'
const chat = (content: string) => ({ model, messages: [{ role: 'user', content }] })

describeEmbedded('marks for Anthropic’s cache', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let key: string
  beforeAll(async () => {
    key = await proxy.createKey({ project: 'acme', type: 'project' })
    await storeKey(proxy.stores, 'acme', 'anthropic', 'sk-ant-own')
  })

  const set = (setting: string, value: string) => proxy.query(`select set_setting('acme', '${setting}', '${value}')`)

  test.each([
    ['/chat/completions', chat('Short?'), 1],
    ['/chat/completions', chat(LONG), 1],
    ['/responses', { model, input: 'Short?', instructions: 'Be brief.' }, 2],
    ['/responses', { model, input: LONG, instructions: 'Be brief.' }, 2],
    ['/messages', { ...chat('Short?'), max_tokens: 9 }, 0],
  ])('at %s, if the setting says so', async (path, body, marks) => {
    for (const [value, expected] of [
      ['off', 0],
      ['on', marks],
    ] as const) {
      await set('anthropic_cache_marks', value)
      const headers = { 'cache-control': 'no-store' }
      expect((await post(proxy, key, path, body, { headers })).status).toBe(200)
      const sent = upstreams.anthropic.requests.at(-1)
      expect(JSON.stringify(sent?.body).split('"cache_control"')).toHaveLength(expected + 1)
    }
  })

  test('a long request, too, is rejected for tools that its provider cannot run, if the project wants that', async () => {
    await set('unsupported_tools', 'refuse')
    for (const input of ['Short?', LONG]) {
      const body = { model, input, tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }
      const { status, json } = await readAnswer(await post(proxy, key, '/responses', body))
      expect([status, json.error.param]).toEqual([400, 'tools[0].type'])
    }
  })
})
