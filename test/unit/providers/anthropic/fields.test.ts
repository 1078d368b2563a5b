import { describe, expect, test } from 'vitest'
import { MESSAGE_FIELD_RULES } from '../../../../src/formats/messages/message-fields.ts'
import { type ChatRequestField, FIELD_RULES } from '../../../../src/providers/anthropic/field-rules.ts'
import type { MessagesRequest } from '../../../../src/providers/anthropic/messages-request.ts'
import { translateRequest } from '../../../../src/providers/anthropic/request/translate-request.ts'

type Body = Record<string, unknown>

const MODEL = 'claude-haiku-4-5'
const QUESTION = { role: 'user', content: 'Hi' }
const TOOL = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }
const MARK = { type: 'ephemeral', ttl: '1h' }
const CALL = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }
const THOUGHT = { type: 'thinking', thinking: 'Hm', signature: 's', index: 0 }

function translate(fields: Body): MessagesRequest {
  return translateRequest({ model: MODEL, messages: [QUESTION], ...fields }, { maxOutputTokens: null })
}

function says(part: Body): Body {
  return { messages: [{ role: 'user', content: [{ type: 'text', text: 'Look' }, part] }] }
}

/** For each translated field: a request with the field, and the part of Anthropic's request that it becomes. */
const TRANSLATED: Partial<Record<ChatRequestField, { body: Body; becomes: object }>> = {
  model: { body: { model: 'claude-opus-5-5' }, becomes: { model: 'claude-opus-5-5' } },
  messages: {
    body: { messages: [{ role: 'developer', content: 'Be brief' }, QUESTION] },
    becomes: {
      system: [{ type: 'text', text: 'Be brief' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    },
  },
  stream: { body: { stream: true }, becomes: { stream: true } },
  max_completion_tokens: { body: { max_completion_tokens: 7, max_tokens: 9 }, becomes: { max_tokens: 7 } },
  max_tokens: { body: { max_tokens: 9 }, becomes: { max_tokens: 9 } },
  stop: { body: { stop: ['END', 'FIN'] }, becomes: { stop_sequences: ['END', 'FIN'] } },
  temperature: { body: { temperature: 0.2 }, becomes: { temperature: 0.2 } },
  top_p: { body: { top_p: 0.9 }, becomes: { top_p: 0.9 } },
  top_k: { body: { top_k: 40 }, becomes: { top_k: 40 } },
  tools: { body: { tools: [TOOL] }, becomes: { tools: [{ name: 'f', input_schema: TOOL.function.parameters }] } },
  tool_choice: { body: { tools: [TOOL], tool_choice: 'required' }, becomes: { tool_choice: { type: 'any' } } },
  parallel_tool_calls: {
    body: { tools: [TOOL], parallel_tool_calls: false },
    becomes: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  },
  functions: {
    body: { functions: [TOOL.function] },
    becomes: { tools: [{ name: 'f', input_schema: TOOL.function.parameters }] },
  },
  function_call: {
    body: { functions: [TOOL.function], function_call: { name: 'f' } },
    becomes: { tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true } },
  },
  response_format: {
    body: {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'n', schema: { type: 'object', properties: { a: { type: 'string' } } } },
      },
    },
    becomes: {
      output_config: {
        format: {
          type: 'json_schema',
          schema: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false },
        },
      },
    },
  },
  reasoning_effort: {
    body: { reasoning_effort: 'low' },
    becomes: { thinking: { type: 'enabled', budget_tokens: 2048 } },
  },
  user: { body: { user: 'u1' }, becomes: { metadata: { user_id: 'u1' } } },
  safety_identifier: { body: { safety_identifier: 's1', user: 'u1' }, becomes: { metadata: { user_id: 's1' } } },
  metadata: { body: { metadata: { user_id: 'm1', tag: 'x' } }, becomes: { metadata: { user_id: 'm1' } } },
  service_tier: { body: { service_tier: 'default' }, becomes: { service_tier: 'standard_only' } },
  'messages[].thinking_blocks': {
    body: {
      reasoning_effort: 'low',
      messages: [
        QUESTION,
        { role: 'assistant', content: null, tool_calls: [CALL], thinking_blocks: [THOUGHT] },
        { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      ],
    },
    becomes: {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 's' },
            { type: 'tool_use', id: 'c1', name: 'f', input: {} },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'ok' }] }],
        },
      ],
    },
  },
  'messages[].content[].file': {
    body: says({ type: 'file', file: { file_id: 'file_1', filename: 'a.pdf' } }),
    becomes: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'document', source: { type: 'file', file_id: 'file_1' }, title: 'a.pdf' },
          ],
        },
      ],
    },
  },
  'messages[].content[].cache_control': {
    body: says({ type: 'text', text: 'There', cache_control: MARK }),
    becomes: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'text', text: 'There', cache_control: MARK },
          ],
        },
      ],
    },
  },
  'messages[].content[].prompt_cache_breakpoint': {
    body: says({ type: 'text', text: 'There', prompt_cache_breakpoint: { mode: 'explicit', ttl: '30m' } }),
    becomes: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'text', text: 'There', cache_control: MARK },
          ],
        },
      ],
    },
  },
  'tools[].function.strict': {
    body: { tools: [{ ...TOOL, function: { ...TOOL.function, strict: true } }] },
    becomes: {
      tools: [
        { name: 'f', strict: true, input_schema: { type: 'object', properties: {}, additionalProperties: false } },
      ],
    },
  },
  'tools[].cache_control': {
    body: { tools: [{ ...TOOL, cache_control: MARK }] },
    becomes: { tools: [{ name: 'f', input_schema: TOOL.function.parameters, cache_control: MARK }] },
  },
}

/** For each omitted field: a request with the field, and the same request without it. */
const OMITTED: Partial<Record<ChatRequestField, { with: Body; without?: Body }>> = {
  stream_options: { with: { stream: true, stream_options: { include_usage: true } }, without: { stream: true } },
  usage: { with: { usage: { include: true } } },
  seed: { with: { seed: 7 } },
  prediction: { with: { prediction: { type: 'content', content: 'x' } } },
  store: { with: { store: true } },
  prompt_cache_key: { with: { prompt_cache_key: 'k' } },
  prompt_cache_options: { with: { prompt_cache_options: { mode: 'explicit' } } },
  prompt_cache_retention: { with: { prompt_cache_retention: '24h' } },
  'messages[].name': { with: { messages: [{ ...QUESTION, name: 'ann' }] } },
  'messages[].content[].image_url.detail': {
    with: says({ type: 'image_url', image_url: { url: 'https://x.test/a.png', detail: 'high' } }),
    without: says({ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }),
  },
}

/** For each rejected field: a request with it, the `param` of its error, and a harmless value that requests nothing. */
const REJECTED: Partial<Record<ChatRequestField, { body: Body; param?: string; harmless?: Body }>> = {
  n: { body: { n: 2 }, harmless: { n: 1 } },
  logprobs: { body: { logprobs: true }, harmless: { logprobs: false } },
  top_logprobs: { body: { top_logprobs: 3 }, harmless: { top_logprobs: 0 } },
  logit_bias: { body: { logit_bias: { 50256: -100 } }, harmless: { logit_bias: {} } },
  presence_penalty: { body: { presence_penalty: 0.5 }, harmless: { presence_penalty: 0 } },
  frequency_penalty: { body: { frequency_penalty: -1 }, harmless: { frequency_penalty: 0 } },
  modalities: { body: { modalities: ['text', 'audio'] }, harmless: { modalities: ['text'] } },
  audio: { body: { audio: { voice: 'alloy', format: 'wav' } }, harmless: { audio: null } },
  verbosity: { body: { verbosity: 'low' }, harmless: { verbosity: 'medium' } },
  moderation: { body: { moderation: { model: 'x' } }, harmless: { moderation: null } },
  web_search_options: { body: { web_search_options: {} } },
  'messages[].audio': {
    body: { messages: [QUESTION, { role: 'assistant', audio: { id: 'a' } }, QUESTION] },
    param: 'messages[1].audio',
  },
  'messages[].content[].input_audio': {
    body: says({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }),
    param: 'messages[0].content[1]',
  },
  'tools[].custom': { body: { tools: [{ type: 'custom', custom: { name: 'c' } }] }, param: 'tools[0]' },
}

function fieldsOf(treatment: string): ChatRequestField[] {
  return (Object.keys(FIELD_RULES) as ChatRequestField[]).filter(field => FIELD_RULES[field].treatment === treatment)
}

describe('the table of field rules', () => {
  test.each(fieldsOf('translated'))('%s is translated', field => {
    const sample = TRANSLATED[field]
    expect(sample, 'each translated field must have a sample').toBeDefined()
    expect(translate(sample?.body ?? {})).toMatchObject(sample?.becomes ?? {})
    expect(translate({})).not.toMatchObject(field === 'messages' ? { system: [] } : (sample?.becomes ?? {}))
  })

  test.each(fieldsOf('omitted'))('%s is omitted', field => {
    const sample = OMITTED[field]
    expect(sample, 'a sample for each omitted field').toBeDefined()
    expect(translate(sample?.with ?? {})).toEqual(translate(sample?.without ?? {}))
  })

  test.each(fieldsOf('rejected'))('%s is rejected by name', field => {
    const sample = REJECTED[field]
    expect(sample, 'a sample for each rejected field').toBeDefined()
    const param = sample?.param ?? field
    expect(() => translate(sample?.body ?? {})).toThrow(
      expect.objectContaining({ status: 400, param, message: expect.stringContaining(FIELD_RULES[field].reason) }),
    )
    expect(translate({ ...sample?.harmless })).toEqual(translate({}))
    if (sample?.param === undefined) expect(translate({ [field]: null })).toEqual(translate({}))
  })

  test('describes the treatment of each field in one sentence', () => {
    for (const [field, { reason }] of Object.entries(FIELD_RULES)) {
      expect(reason, field).toMatch(/^[A-Z`0-9].*\.$/)
    }
  })

  test.each(Object.keys(MESSAGE_FIELD_RULES).filter(field => !(field in FIELD_RULES) && field !== 'thinking'))(
    '%s is Anthropic’s own, and sent unchanged',
    field => {
      const own = { [field]: { tomorrow: [1] } }
      if (!Object.hasOwn(translate({}), field)) expect(translate(own)).toEqual({ ...translate({}), ...own })
    },
  )

  test.each([
    ['invented', 'invented'],
    ['repetition_penalty', 'repetition_penalty'],
    ['Ann’s secret', '…'],
    ['__proto__', '__proto__'],
  ])('%s, which no API has, is never sent', (field, param) => {
    const body = JSON.parse(`{${JSON.stringify(field)}:{"tomorrow":[1]}}`)
    expect(() => translate(body)).toThrow(expect.objectContaining({ status: 400, param }))
  })

  test('prevents contradictions between such a field and a translated one', () => {
    expect(() => translate({ thinking: { type: 'disabled' }, reasoning_effort: 'high' })).toThrow(
      expect.objectContaining({ status: 400, param: 'thinking' }),
    )
    expect(translate({ thinking: { type: 'disabled' } }).thinking).toEqual({ type: 'disabled' })
  })
})
