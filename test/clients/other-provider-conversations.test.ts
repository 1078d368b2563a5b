/**
 * Conversations that began with OpenAI's own models and tools, for example in Codex, continue with models whose providers support only chat
 * or Messages.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { post } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const PICTURE = 'data:image/png;base64,iVBORw0KGgo='

const THREAD = [
  { role: 'user', content: [{ type: 'input_text', text: 'See what is here.' }] },
  { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAA' },
  { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' },
  { type: 'web_search_call', id: 'ws_1', status: 'completed' },
  { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'q' } },
  { type: 'local_shell_call', call_id: 'c1', status: 'completed', action: { type: 'exec', command: ['ls'], env: {} } },
  { type: 'function_call', call_id: 'c2', name: 'view_image', arguments: '{"path":"a.png"}' },
  { type: 'function_call_output', call_id: 'c1', output: 'a.png' },
  { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'The picture is scaled.' }] },
  { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_image', image_url: PICTURE }] },
  { type: 'tool_search_call', id: 'ts_1', call_id: null, execution: 'server', arguments: { paths: ['crm'] } },
  { type: 'tool_search_output', id: 'to_1', call_id: null, execution: 'server', tools: [] },
  { type: 'agent_message', author: '/root/a', recipient: '/root', content: [{ type: 'input_text', text: 'Done.' }] },
  { type: 'local_shell_call', call_id: 'c3', status: 'incomplete', action: { type: 'exec', command: ['rm'], env: {} } },
  { role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] },
]

describeOnce('a conversation that started at another provider', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), environment: { ...upstreams.environment, MAX_RETRIES: '0' } }),
  )
  let key: string

  beforeAll(async () => {
    key = await proxy.createKey({ project: 'elsewhere', type: 'project' })
    for (const provider of ['anthropic', 'openai'] as const)
      await storeKey(proxy.stores, 'elsewhere', provider, 'sk-own')
  })
  beforeEach(() => upstreams.reset())

  function sentTo(provider: 'aggregator' | 'anthropic'): Record<string, unknown>[] {
    const [request] = upstreams[provider].requests
    return (request?.body as { messages: Record<string, unknown>[] } | undefined)?.messages ?? []
  }

  test.each([false, true])('continues with a model of chat completions, streamed: %s', async stream => {
    const response = await post(proxy, key, '/v1/responses', { model: 'openai/gpt-5-mini', stream, input: THREAD })
    expect(response.status, await response.text()).toBe(200)
    expect(response.headers.get('x-proxy-omitted')).toBe('compaction')
    const messages = sentTo('aggregator')
    expect(messages.map(({ role, tool_call_id: id }) => id ?? role)).toEqual([
      ...['user', 'assistant', 'c1', 'c2', 'system', 'user', 'assistant', 'ts_1', 'assistant', 'c3', 'user'],
    ])
    expect(messages[1]).toMatchObject({
      tool_calls: [
        { id: 'c1', function: { name: 'local_shell' } },
        { id: 'c2', function: { name: 'view_image' } },
      ],
    })
    const text = JSON.stringify(messages)
    for (const part of ['/root/a', 'Done.', 'crm', PICTURE, 'The picture is scaled.']) expect(text).toContain(part)
  })

  test('continues with Claude', async () => {
    const response = await post(proxy, key, '/v1/responses', { model: 'claude-haiku-4-5', input: THREAD })
    expect(response.status, await response.text()).toBe(200)
    const messages = sentTo('anthropic')
    expect(messages.map(({ role }) => role)).toEqual(messages.map((_, index) => (index % 2 ? 'assistant' : 'user')))
    expect(JSON.stringify(messages)).toContain('local_shell')
  })

  test('is sent unchanged to the provider at which it started', async () => {
    const input = THREAD.filter(({ type }) => type !== 'web_search_call')
    const response = await post(proxy, key, '/v1/responses', { model: 'gpt-5-mini', input })
    expect(response.headers.get('x-proxy-omitted')).toBe(null)
    expect(upstreams.openai.requests[0]?.body).toMatchObject({ input })
  })

  test('is rejected by name if an item cannot be translated', async () => {
    const input = [...THREAD, { type: 'compaction_trigger' }]
    const response = await post(proxy, key, '/v1/responses', { model: 'openai/gpt-5-mini', input })
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param: 'input[15].type' } }])
    expect(upstreams.aggregator.requests).toEqual([])
  })
})
