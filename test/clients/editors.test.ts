/**
 * Zed and VS Code. No package contains their code, so this test sends requests in the form that their sources build, and checks what their
 * parsers require of each event. Sources: zed-industries/zed at 014676e4, microsoft/vscode-copilot-chat at 092f70e3.
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { readEvents } from './streams/read-events.ts'
import { callWeather } from './weather-tool.ts'

interface ParsedAnswer {
  text: string
  call: { id: string; name: string; arguments: string } | null
  responseId: string | null
}
type Body = Record<string, unknown>

const ASKED = 'What is the weather in Linz?'
const SYSTEM = 'You help with code.'
const schema = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] }
const described = { name: 'get_weather', description: 'The weather of a place.', parameters: schema }
const CHAT_TOOLS = [{ type: 'function', function: described }]

const chatCall = ({ call }: ParsedAnswer) => ({
  tool_calls: [{ id: call?.id, type: 'function', function: { name: call?.name, arguments: call?.arguments } }],
})
const itemsOf = ({ call }: ParsedAnswer) => [
  { type: 'function_call', name: call?.name, arguments: call?.arguments, call_id: call?.id },
  { type: 'function_call_output', call_id: call?.id, output: 'Sunny' },
]
const inputText = (text: string) => [{ type: 'input_text', text }]

/** Zed's crates/open_ai and the BYOK endpoints of VS Code's Copilot Chat: the first request, and the request with the tool's result. */
const EDITORS: Record<string, { door: string; ask(model: string, answer: ParsedAnswer | null): Body }> = {
  'Zed, chat': {
    door: '/chat/completions',
    ask: (model, answer) => ({
      model,
      messages: [
        { role: 'system', content: SYSTEM },
        { role: 'user', content: ASKED },
        ...(answer === null
          ? []
          : [
              { role: 'assistant', content: answer.text || null, ...chatCall(answer), reasoning_content: 'Hm.' },
              { role: 'tool', content: 'Sunny', tool_call_id: answer.call?.id },
            ]),
      ],
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 8_192,
      temperature: 1,
      tool_choice: 'auto',
      parallel_tool_calls: false,
      tools: CHAT_TOOLS,
      prompt_cache_key: 'a-thread-of-the-editor',
    }),
  },
  'Zed, responses': {
    door: '/responses',
    ask: (model, answer) => ({
      model,
      input: [
        { type: 'message', role: 'system', content: inputText(SYSTEM) },
        { type: 'message', role: 'user', content: inputText(ASKED) },
        ...(answer === null
          ? []
          : [
              ...(answer.text === ''
                ? []
                : [
                    {
                      type: 'message',
                      role: 'assistant',
                      content: [{ type: 'output_text', text: answer.text, annotations: [] }],
                    },
                  ]),
              ...itemsOf(answer),
            ]),
      ],
      stream: true,
      max_output_tokens: 8_192,
      tools: [{ type: 'function', ...described }],
      prompt_cache_key: 'a-thread-of-the-editor',
      reasoning: { effort: 'medium', summary: 'auto' },
    }),
  },
  'VS Code, chat': {
    door: '/chat/completions',
    ask: (model, answer) => ({
      messages: [
        { role: 'system', content: SYSTEM },
        { role: 'user', content: [{ type: 'text', text: ASKED }] },
        ...(answer === null
          ? []
          : [
              { role: 'assistant', content: answer.text, ...chatCall(answer), cot_id: 'cot_1', cot_summary: 'Hm.' },
              { role: 'tool', content: 'Sunny', tool_call_id: answer.call?.id },
            ]),
      ],
      model,
      top_p: 1,
      n: 1,
      stream: true,
      tools: CHAT_TOOLS,
      stream_options: { include_usage: true },
    }),
  },
  'VS Code, responses': {
    door: '/responses',
    // Continues from the previous response. Older items are not sent again.
    ask: (model, answer) => ({
      model,
      ...(answer === null
        ? {
            input: [
              { role: 'system', content: inputText(SYSTEM) },
              { role: 'user', content: inputText(ASKED) },
            ],
          }
        : { input: itemsOf(answer).slice(1), previous_response_id: answer.responseId }),
      stream: true,
      tools: [{ ...described, type: 'function', strict: false }],
      max_output_tokens: 4_096,
      store: true,
      truncation: 'disabled',
      reasoning: { effort: 'medium', summary: 'detailed' },
      include: ['reasoning.encrypted_content'],
    }),
  },
}

/** Zed requires `choices` and, if there is a `usage`, all of its counts. */
function readChunk(chunk: Body, answer: ParsedAnswer): void {
  const choices = chunk.choices as { index: number; delta?: { content?: string | null; tool_calls?: Body[] } }[]
  expect(choices).toBeInstanceOf(Array)
  for (const { index } of choices) expect(index).toBe(0)
  const counts = ['prompt_tokens', 'completion_tokens', 'total_tokens'].map(name => [name, expect.any(Number)])
  if (chunk.usage) expect(chunk.usage).toMatchObject(Object.fromEntries(counts))
  answer.text += choices[0]?.delta?.content ?? ''
  for (const { index, id, function: called } of choices[0]?.delta?.tool_calls ?? []) {
    expect(index).toBe(0)
    const { name, arguments: part } = called as Record<string, string | undefined>
    answer.call ??= { id: '', name: '', arguments: '' }
    answer.call.id ||= String(id ?? '')
    answer.call.name ||= name ?? ''
    answer.call.arguments += part ?? ''
  }
}

function readEvent(event: Body, answer: ParsedAnswer): void {
  const item = event.item as Record<string, string> | undefined
  if (event.type === 'response.output_text.delta') answer.text += event.delta
  if (event.type === 'response.output_item.done' && item?.type === 'function_call')
    answer.call = { id: item.call_id ?? '', name: item.name ?? '', arguments: item.arguments ?? '' }
  if (event.type !== 'response.completed') return
  const { id, usage } = event.response as { id: string; usage: unknown }
  expect(usage).toMatchObject({ input_tokens: expect.any(Number), output_tokens: expect.any(Number) })
  // VS Code continues only from ids with this prefix.
  expect(id).toMatch(/^resp_/)
  answer.responseId = id
}

describeOnce('editors', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let keys: Record<'direct' | 'aggregator', string>

  beforeAll(async () => {
    keys = {
      direct: await proxy.createKey({ project: 'direct', type: 'project' }),
      aggregator: await proxy.createKey({ type: 'project' }),
    }
    for (const provider of ['openai', 'anthropic', 'groq'] as const)
      await storeKey(proxy.stores, 'direct', provider, 'sk-own')
  })
  beforeEach(() => {
    upstreams.reset()
    callWeather(upstreams)
  })

  async function send(door: string, model: string, body: Body): Promise<ParsedAnswer> {
    const response = await fetch(proxy.baseUrl + door, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${keys[model.includes('/') ? 'aggregator' : 'direct']}`,
      },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    expect([response.status, text]).toEqual([200, expect.any(String)])
    const answer: ParsedAnswer = { text: '', call: null, responseId: null }
    for (const event of readEvents(text) as Body[]) (door === '/responses' ? readEvent : readChunk)(event, answer)
    return answer
  }

  describe.each(Object.entries(EDITORS))('%s', (_editor, { door, ask }) => {
    test.each(['gpt-5-mini', 'claude-haiku-4-5', 'llama-3.3-70b-versatile', 'openai/gpt-5-mini'])(
      'a call and its result, with %s',
      async model => {
        const first = await send(door, model, ask(model, null))
        expect(first.call).toMatchObject({ name: 'get_weather', arguments: expect.stringContaining('Linz') })
        expect((await send(door, model, ask(model, first))).text).toMatch(/.{5}/)
      },
    )
  })
})
