import { describe, expect, test } from 'vitest'
import { planCaching } from '../../../src/formats/plan-caching.ts'

const plain = { model: 'm', input: 'x' }

describe('planning the caching of a Responses request', () => {
  test.each([
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ conversation: { id: 'conv_1' } }, 'conversation'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    [{ background: true }, 'background'],
    [{ tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }] }, 'tools[1].type'],
    [{ tools: [{ type: 'mcp' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'a_tool_of_tomorrow' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'shell', environment: { type: 'container_auto' } }] }, 'tools[0].type'],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input[0].type'],
    [{ input: [{ type: 'an_item_of_tomorrow' }] }, 'input[0].type'],
  ])('does not cache %j', (body, field) => {
    expect(planCaching('responses', { ...plain, ...body })).toMatchObject({ isCacheable: false, field })
  })

  test.each([
    {},
    { previous_response_id: null, conversation: null, background: false, tools: [], prompt: null },
    {
      tools: [
        { type: 'function', name: 'f' },
        { type: 'custom', name: 'c' },
      ],
    },
    { tools: [{ type: 'shell', environment: { type: 'local' } }] },
    {
      input: [
        { role: 'user', content: 'x' },
        { type: 'function_call_output', call_id: 'c', output: 'y' },
      ],
    },
  ])('caches %j', body => {
    expect(planCaching('responses', { ...plain, ...body })).toMatchObject({ isCacheable: true, isBoundToKey: true })
  })

  test('ties a response to its provider key, unless nothing in it refers back there', () => {
    const unstored = { ...plain, store: false }
    expect(planCaching('responses', unstored)).toMatchObject({ isCacheable: true, isBoundToKey: false })
    const sealed = [
      { include: ['reasoning.encrypted_content'] },
      { input: [{ type: 'reasoning', summary: [], encrypted_content: 'gAAA' }] },
      { context_management: [{ type: 'compaction' }] },
    ]
    for (const body of sealed)
      expect(planCaching('responses', { ...unstored, ...body })).toMatchObject({ isBoundToKey: true })
  })
})

test('a Gemini request with a tool that Google runs is not cached', () => {
  const messages = [{ role: 'user', content: 'x' }]
  const look = { type: 'function', function: { name: 'look' } }
  expect(planCaching('generate_content', { messages, tools: [look] })).toMatchObject({ isCacheable: true })
  const tools = [look, { type: 'google_search' }]
  const plan = planCaching('generate_content', { messages, tools })
  expect(plan).toMatchObject({ isCacheable: false, field: 'tools[1].type' })
})
