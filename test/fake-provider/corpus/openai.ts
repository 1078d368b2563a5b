/** Responses in the form of OpenAI's API reference. */

import { type CorpusEntry, deltaChunk, finishChunk, messageChoice, stream, usageOnlyChunk } from './format.ts'

const top = {
  id: 'chatcmpl-BqLr7x2',
  created: 1_741_569_952,
  model: 'gpt-4.1-2025-04-14',
  service_tier: 'default',
  system_fingerprint: 'fp_b3f1157249',
}
const head = { ...top, object: 'chat.completion.chunk', usage: null }
const plain = { ...top, object: 'chat.completion' }
const usage = {
  prompt_tokens: 19,
  completion_tokens: 10,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
}
const opening = deltaChunk({ role: 'assistant', content: '', refusal: null })
const callOpening = deltaChunk({ role: 'assistant', content: null, refusal: null })

function token(text: string, logprob: number) {
  return { token: text, logprob, bytes: [...new TextEncoder().encode(text)], top_logprobs: [] }
}
function call(index: number, fields: object) {
  return deltaChunk({ tool_calls: [{ index, ...fields }] })
}

const citation = {
  type: 'url_citation',
  url_citation: { start_index: 0, end_index: 11, title: 'A page', url: 'https://example.org/page' },
}
const helloLogprobs = [
  { ...token('Hi', -0.31), top_logprobs: [token('Hi', -0.31), token('Hello', -1.32)] },
  token('!', -0.02),
]
const moderation = {
  input: { type: 'moderation_results', model: 'omni', results: [] },
  output: { type: 'error', code: 'x', message: 'y' },
}

export const OPENAI: CorpusEntry[] = [
  {
    name: 'OpenAI: text, with usage and padding',
    stream: stream(head, [
      { ...opening, obfuscation: 'aW' },
      deltaChunk({ content: 'Hello' }, {}, { obfuscation: 'F9' }),
      deltaChunk({ content: '! How can I help?' }, {}, { obfuscation: '' }),
      finishChunk('stop', {}, { obfuscation: 'k3Jd' }),
      usageOnlyChunk(usage, { obfuscation: 'q' }),
    ]),
    body: { ...plain, choices: [messageChoice({ content: 'Hello! How can I help?', refusal: null })], usage },
    completeness: 'whole',
  },
  {
    name: 'OpenAI: text, without usage',
    stream: stream(
      top,
      [opening, deltaChunk({ content: 'Hello' }), finishChunk('stop')].map(chunk => ({
        object: 'chat.completion.chunk',
        ...chunk,
      })),
    ),
    body: { ...plain, choices: [messageChoice({ content: 'Hello', refusal: null })] },
    completeness: 'whole',
  },
  {
    name: 'OpenAI: parallel tool calls',
    stream: stream(head, [
      callOpening,
      call(0, { id: 'call_a1', type: 'function', function: { name: 'get_weather', arguments: '' } }),
      call(0, { function: { arguments: '{"ci' } }),
      call(0, { function: { arguments: 'ty":"Rome"}' } }),
      call(1, { id: 'call_b2', type: 'function', function: { name: 'get_time', arguments: '' } }),
      call(1, { function: { arguments: '{"zone":"CET"}' } }),
      finishChunk('tool_calls'),
      usageOnlyChunk(usage),
    ]),
    body: {
      ...plain,
      choices: [
        messageChoice(
          {
            content: null,
            refusal: null,
            tool_calls: [
              { id: 'call_a1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } },
              { id: 'call_b2', type: 'function', function: { name: 'get_time', arguments: '{"zone":"CET"}' } },
            ],
          },
          'tool_calls',
        ),
      ],
      usage,
    },
    completeness: 'whole',
  },
  {
    name: 'OpenAI: tool calls whose fragments are interleaved, both in one chunk',
    stream: stream(head, [
      callOpening,
      deltaChunk({
        tool_calls: [
          { index: 1, id: 'call_b', type: 'function', function: { name: 'second', arguments: '' } },
          { index: 0, id: 'call_a', type: 'function', function: { name: 'first', arguments: '{' } },
        ],
      }),
      deltaChunk({
        tool_calls: [
          { index: 0, function: { arguments: '}' } },
          { index: 1, function: { arguments: '{' } },
        ],
      }),
      deltaChunk({
        tool_calls: [
          { index: 1, function: { arguments: '"a":1' } },
          { index: 1, function: { arguments: '}' } },
        ],
      }),
      finishChunk('tool_calls'),
    ]),
    body: {
      ...plain,
      choices: [
        messageChoice(
          {
            content: null,
            refusal: null,
            tool_calls: [
              { id: 'call_a', type: 'function', function: { name: 'first', arguments: '{}' } },
              { id: 'call_b', type: 'function', function: { name: 'second', arguments: '{"a":1}' } },
            ],
          },
          'tool_calls',
        ),
      ],
    },
    completeness: 'whole',
  },
  {
    name: 'OpenAI: text before a tool call',
    stream: stream(head, [
      opening,
      deltaChunk({ content: 'Let me look.' }),
      call(0, { id: 'call_c3', type: 'function', function: { name: 'look', arguments: '' } }),
      call(0, { function: { arguments: '{}' } }),
      finishChunk('tool_calls'),
    ]),
    body: {
      ...plain,
      choices: [
        messageChoice(
          {
            content: 'Let me look.',
            refusal: null,
            tool_calls: [{ id: 'call_c3', type: 'function', function: { name: 'look', arguments: '{}' } }],
          },
          'tool_calls',
        ),
      ],
    },
    completeness: 'whole',
  },
  {
    name: 'OpenAI: custom tool call',
    stream: stream(head, [
      callOpening,
      call(0, { id: 'call_d4', type: 'custom', custom: { name: 'run_sql', input: '' } }),
      call(0, { custom: { input: 'select ' } }),
      call(0, { custom: { input: '1' } }),
      finishChunk('tool_calls'),
    ]),
    body: {
      ...plain,
      choices: [
        messageChoice(
          {
            content: null,
            refusal: null,
            tool_calls: [{ id: 'call_d4', type: 'custom', custom: { name: 'run_sql', input: 'select 1' } }],
          },
          'tool_calls',
        ),
      ],
    },
    completeness: 'whole',
  },
  {
    name: 'OpenAI: legacy function call',
    stream: stream(head, [
      deltaChunk({ role: 'assistant', content: null, function_call: { name: 'get_weather', arguments: '' } }),
      deltaChunk({ function_call: { arguments: '{"city":' } }),
      deltaChunk({ function_call: { arguments: '"Oslo"}' } }),
      finishChunk('function_call'),
    ]),
    body: {
      ...plain,
      choices: [
        messageChoice(
          { content: null, function_call: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
          'function_call',
        ),
      ],
    },
    completeness: 'whole',
  },
  {
    name: 'OpenAI: refusal under a schema',
    stream: stream(head, [
      opening,
      deltaChunk({ refusal: "I'm sorry," }),
      deltaChunk({ refusal: ' I cannot.' }),
      finishChunk('stop'),
      usageOnlyChunk(usage),
    ]),
    body: { ...plain, choices: [messageChoice({ content: '', refusal: "I'm sorry, I cannot." })], usage },
    completeness: 'whole',
  },
  {
    name: 'OpenAI: structured output',
    stream: stream(head, [
      opening,
      deltaChunk({ content: '{"steps":[' }),
      deltaChunk({ content: '"one"]}' }),
      finishChunk('stop'),
    ]),
    body: { ...plain, choices: [messageChoice({ content: '{"steps":["one"]}', refusal: null })] },
    completeness: 'whole',
  },
  {
    name: 'OpenAI: log probabilities with alternatives',
    stream: stream(head, [
      deltaChunk({ role: 'assistant', content: '', refusal: null }, { logprobs: { content: [], refusal: null } }),
      deltaChunk({ content: 'Hi' }, { logprobs: { content: helloLogprobs.slice(0, 1), refusal: null } }),
      deltaChunk({ content: '!' }, { logprobs: { content: helloLogprobs.slice(1), refusal: null } }),
      finishChunk('stop'),
    ]),
    body: {
      ...plain,
      choices: [
        messageChoice({ content: 'Hi!', refusal: null }, 'stop', {
          logprobs: { content: helloLogprobs, refusal: null },
        }),
      ],
    },
    completeness: 'whole',
  },
  {
    name: 'OpenAI: log probabilities of a refusal',
    stream: stream(head, [
      deltaChunk({ role: 'assistant', content: '', refusal: null }),
      deltaChunk({ refusal: 'No' }, { logprobs: { content: null, refusal: [token('No', -0.1)] } }),
      deltaChunk({ refusal: '.' }, { logprobs: { content: null, refusal: [token('.', -0.2)] } }),
      finishChunk('stop'),
    ]),
    body: {
      ...plain,
      choices: [
        messageChoice({ content: '', refusal: 'No.' }, 'stop', {
          logprobs: { content: null, refusal: [token('No', -0.1), token('.', -0.2)] },
        }),
      ],
    },
    completeness: 'whole',
  },
  {
    name: 'OpenAI: two choices, interleaved, the second done first',
    stream: stream(head, [
      {
        choices: [1, 0].map(index => ({
          index,
          delta: { role: 'assistant', content: '' },
          logprobs: null,
          finish_reason: null,
        })),
      },
      deltaChunk({ content: 'Heads' }),
      deltaChunk({ content: 'Tails' }, { index: 1 }),
      finishChunk('stop', { index: 1 }),
      deltaChunk({ content: '!' }),
      finishChunk('stop'),
      usageOnlyChunk(usage),
    ]),
    body: {
      ...plain,
      choices: [messageChoice({ content: 'Heads!' }), messageChoice({ content: 'Tails' }, 'stop', { index: 1 })],
      usage,
    },
    completeness: 'whole',
  },
  {
    name: 'OpenAI: one of two choices without an end',
    stream: stream(head, [
      deltaChunk({ content: 'a' }),
      deltaChunk({ content: 'b' }, { index: 1 }),
      finishChunk('stop'),
    ]),
    body: {
      ...plain,
      choices: [
        { index: 0, message: { content: 'a' }, logprobs: null, finish_reason: 'stop' },
        { index: 1, message: { content: 'b' }, logprobs: null, finish_reason: null },
      ],
    },
    completeness: 'unfinished_choice',
  },
  {
    name: 'OpenAI: audio, which ends with its expiry and no finish_reason',
    stream: stream(head, [
      deltaChunk({ role: 'assistant', content: null, refusal: null, audio: { id: 'audio_1', transcript: '' } }),
      deltaChunk({ audio: { transcript: 'Good ' } }),
      deltaChunk({ audio: { data: 'UklGRg==' } }),
      deltaChunk({ audio: { transcript: 'day.' } }),
      deltaChunk({ audio: { data: 'AAEC' } }),
      deltaChunk({ audio: { expires_at: 1_741_573_552 } }),
      usageOnlyChunk(usage),
    ]),
    body: {
      ...plain,
      choices: [
        messageChoice({
          content: null,
          refusal: null,
          audio: { id: 'audio_1', transcript: 'Good day.', data: 'UklGRg==AAEC', expires_at: 1_741_573_552 },
        }),
      ],
      usage,
    },
    completeness: 'whole',
  },
  {
    name: 'OpenAI: audio cut before its expiry',
    stream: stream(head, [deltaChunk({ role: 'assistant', audio: { id: 'audio_1', data: 'AAEC', transcript: 'Go' } })]),
    body: {
      ...plain,
      choices: [
        messageChoice({ audio: { id: 'audio_1', data: 'AAEC', transcript: 'Go' } }, 'stop', { finish_reason: null }),
      ],
    },
    completeness: 'unfinished_choice',
  },
  {
    name: 'OpenAI: web search with citations',
    stream: stream(head, [
      opening,
      deltaChunk({ content: 'As one says' }),
      deltaChunk({ annotations: [citation] }),
      deltaChunk({ annotations: [citation] }),
      finishChunk('stop'),
    ]),
    body: {
      ...plain,
      choices: [messageChoice({ content: 'As one says', refusal: null, annotations: [citation, citation] })],
    },
    completeness: 'whole',
  },
  {
    name: 'OpenAI: moderation results of their own chunk',
    stream: stream(head, [
      opening,
      deltaChunk({ content: 'Fine.' }),
      finishChunk('stop'),
      { choices: [], moderation },
      usageOnlyChunk(usage),
    ]),
    body: { ...plain, choices: [messageChoice({ content: 'Fine.', refusal: null })], moderation, usage },
    completeness: 'whole',
  },
  {
    name: 'OpenAI: cut at the requested length',
    stream: stream(head, [opening, deltaChunk({ content: 'One two' }), finishChunk('length')]),
    body: { ...plain, choices: [messageChoice({ content: 'One two', refusal: null }, 'length')] },
    completeness: 'whole',
    clientSetOutputLimit: true,
  },
  {
    name: 'OpenAI: cut at the model’s own length',
    stream: stream(head, [opening, deltaChunk({ content: 'One two' }), finishChunk('length')]),
    body: { ...plain, choices: [messageChoice({ content: 'One two', refusal: null }, 'length')] },
    completeness: 'provider_length_limit',
  },
  {
    name: 'OpenAI: broken off by the content filter',
    stream: stream(head, [opening, deltaChunk({ content: 'Step one: ' }), finishChunk('content_filter')]),
    body: { ...plain, choices: [messageChoice({ content: 'Step one: ', refusal: null }, 'content_filter')] },
    completeness: 'content_filter',
  },
  {
    name: 'OpenAI: characters of one to four bytes, joined emoji, and an escaped lone surrogate',
    stream: stream(head, [
      opening,
      deltaChunk({ content: 'é漢👩‍👩‍👧' }),
      deltaChunk({ content: '🇳🇴 \ud83d' }),
      deltaChunk({ content: '\ude00\u0000' }),
      finishChunk('stop'),
    ]),
    body: { ...plain, choices: [messageChoice({ content: 'é漢👩‍👩‍👧🇳🇴 😀\u0000', refusal: null })] },
    completeness: 'whole',
  },
  {
    name: 'OpenAI: error in mid-stream',
    stream: `${stream(head, [opening, deltaChunk({ content: 'Half an ans' })], { done: false })}data: {"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}\n\n`,
    plain: null,
    body: {
      ...plain,
      choices: [messageChoice({ content: 'Half an ans', refusal: null }, 'stop', { finish_reason: null })],
    },
    completeness: 'error_in_stream',
    error: { message: 'The server had an error', type: 'server_error', param: null, code: null },
  },
  {
    name: 'OpenAI: connection cut in mid-stream',
    stream: stream(head, [opening, deltaChunk({ content: 'Half an ans' })], { done: false }),
    body: {
      ...plain,
      choices: [messageChoice({ content: 'Half an ans', refusal: null }, 'stop', { finish_reason: null })],
    },
    completeness: 'unfinished_choice',
  },
  {
    name: 'OpenAI: connection cut inside a chunk',
    stream: `${stream(head, [opening, deltaChunk({ content: 'Half' })], { done: false })}data: {"id":"chatcmpl-BqLr7x2","choices":[{"index":0,"delta":{"conte`,
    plain: null,
    body: { ...plain, choices: [messageChoice({ content: 'Half', refusal: null }, 'stop', { finish_reason: null })] },
    completeness: 'malformed_chunk',
  },
  {
    name: 'OpenAI: complete, but without [DONE]',
    stream: stream(head, [opening, deltaChunk({ content: 'Bye.' }), finishChunk('stop')], { done: false }),
    body: { ...plain, choices: [messageChoice({ content: 'Bye.', refusal: null })] },
    completeness: 'whole',
  },
]

const legacyTop = { id: 'cmpl-9Xy', object: 'text_completion', created: 1_741_569_952, model: 'gpt-3.5-turbo-instruct' }
const legacyLogprobs = {
  tokens: ['\n', 'This', ' is'],
  token_logprobs: [-0.1, -0.2, -0.3],
  top_logprobs: [{ '\n': -0.1 }, { This: -0.2 }, { ' is': -0.3 }],
  text_offset: [0, 1, 5],
}
function legacy(text: string, choice: object = {}) {
  return { choices: [{ text, index: 0, logprobs: null, finish_reason: null, ...choice }] }
}
function shareOf(from: number, to: number) {
  return Object.fromEntries(Object.entries(legacyLogprobs).map(([key, list]) => [key, list.slice(from, to)]))
}

export const OPENAI_LEGACY: CorpusEntry[] = [
  {
    name: 'OpenAI legacy: text',
    stream: stream({ ...legacyTop, usage: null }, [
      legacy('\n\nThis'),
      legacy(' is'),
      legacy(' a test.'),
      legacy('', { finish_reason: 'stop' }),
      usageOnlyChunk(usage),
    ]),
    body: {
      ...legacyTop,
      choices: [{ text: '\n\nThis is a test.', index: 0, logprobs: null, finish_reason: 'stop' }],
      usage,
    },
    completeness: 'whole',
  },
  {
    name: 'OpenAI legacy: log probabilities',
    stream: stream(legacyTop, [
      legacy('\nThis', { logprobs: shareOf(0, 2) }),
      legacy(' is', { logprobs: shareOf(2, 3) }),
      legacy('', { finish_reason: 'stop' }),
    ]),
    body: { ...legacyTop, choices: [{ text: '\nThis is', index: 0, logprobs: legacyLogprobs, finish_reason: 'stop' }] },
    completeness: 'whole',
  },
  {
    name: 'OpenAI legacy: two choices, one cut at the default of 16 tokens',
    stream: stream(legacyTop, [
      legacy('a'),
      legacy('b', { index: 1 }),
      legacy('', { finish_reason: 'stop' }),
      legacy('!', { index: 1, finish_reason: 'length' }),
    ]),
    body: {
      ...legacyTop,
      choices: [
        { text: 'a', index: 0, logprobs: null, finish_reason: 'stop' },
        { text: 'b!', index: 1, logprobs: null, finish_reason: 'length' },
      ],
    },
    completeness: 'provider_length_limit',
  },
]
