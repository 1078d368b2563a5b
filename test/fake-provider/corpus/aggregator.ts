/** Responses in the form of an aggregator's API reference: comments, costs, reasoning, and errors inside a 200. */

import { type CorpusEntry, messageChoice, stream, usageOnlyChunk } from './format.ts'

const top = { id: 'gen-1760000000-QwErTy', created: 1_760_000_000, model: 'vendor/model-1', provider: 'Vendor' }
const head = { ...top, object: 'chat.completion.chunk' }
const plain = { ...top, object: 'chat.completion' }
const usage = {
  prompt_tokens: 28,
  completion_tokens: 120,
  total_tokens: 148,
  cost: 0.001496,
  is_byok: false,
  prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  cost_details: { upstream_inference_cost: 0.001496, upstream_inference_prompt_cost: 0.000056 },
  completion_tokens_details: { reasoning_tokens: 111, image_tokens: 0 },
}
const comments = { preamble: ': OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n' }

/** Each chunk has the role and content, even if the content is empty. */
function deltaChunk(delta: object, choice: object = {}, chunk: object = {}) {
  const opened = { role: 'assistant', content: '', ...delta }
  return {
    choices: [{ index: 0, delta: opened, finish_reason: null, native_finish_reason: null, ...choice }],
    ...chunk,
  }
}
function finishChunk(finish: string, native: string, choice: object = {}) {
  return deltaChunk({}, { finish_reason: finish, native_finish_reason: native, ...choice })
}
function answered(message: object, finish = 'stop', native = 'stop', choice: object = {}) {
  const { logprobs: _none, ...rest } = messageChoice({ ...message }, finish)
  return { ...rest, native_finish_reason: native, ...choice }
}
function thinks(detail: object, reasoning: string | null = null) {
  return deltaChunk({ reasoning, reasoning_details: [{ format: 'anthropic-claude-v1', index: 0, ...detail }] })
}

const providerError = { code: 502, message: 'Provider returned error', metadata: { provider_name: 'Vendor' } }
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' }, index: 0 }
const citation = {
  type: 'url_citation',
  url_citation: { url: 'https://example.org', title: 'T', content: 'c', start_index: 1, end_index: 2 },
}

export const AGGREGATOR: CorpusEntry[] = [
  {
    name: 'Aggregator: comments, cost, and the native reason',
    stream: stream(
      head,
      [
        deltaChunk({ content: 'Hello' }),
        deltaChunk({ content: ' there' }),
        finishChunk('stop', 'STOP'),
        usageOnlyChunk(usage),
      ],
      comments,
    ),
    body: { ...plain, choices: [answered({ content: 'Hello there' }, 'stop', 'STOP')], usage },
    completeness: 'whole',
  },
  {
    name: 'Aggregator: usage in a chunk that repeats the last choice',
    stream: stream(head, [
      deltaChunk({ content: 'Hello' }),
      finishChunk('stop', 'stop'),
      { ...finishChunk('stop', 'stop'), usage },
    ]),
    body: { ...plain, choices: [answered({ content: 'Hello' })], usage },
    completeness: 'whole',
  },
  {
    name: 'Aggregator: comments between every two events, blank lines to keep a plain answer waiting',
    stream: stream(head, [deltaChunk({ content: 'Hi' }), finishChunk('stop', 'stop')]).replaceAll(
      '\n\n',
      '\n\n: PROCESSING\n\n',
    ),
    plain: `\n         \n\n         \n${JSON.stringify({ ...plain, choices: [answered({ content: 'Hi' })] })}`,
    body: { ...plain, choices: [answered({ content: 'Hi' })] },
    completeness: 'whole',
  },
  {
    name: 'Aggregator: thoughts in text, signed at the end',
    stream: stream(head, [
      thinks({ type: 'reasoning.text', text: 'First, ' }, 'First, '),
      thinks({ type: 'reasoning.text', text: 'think.' }, 'think.'),
      thinks({ type: 'reasoning.text', signature: 'EtcBCkgI' }),
      deltaChunk({ content: 'Done.' }),
      finishChunk('stop', 'end_turn'),
      usageOnlyChunk(usage),
    ]),
    body: {
      ...plain,
      choices: [
        answered(
          {
            content: 'Done.',
            reasoning: 'First, think.',
            reasoning_details: [
              {
                type: 'reasoning.text',
                text: 'First, think.',
                signature: 'EtcBCkgI',
                format: 'anthropic-claude-v1',
                index: 0,
              },
            ],
          },
          'stop',
          'end_turn',
        ),
      ],
      usage,
    },
    completeness: 'whole',
  },
  {
    name: 'Aggregator: a summary and what is encrypted, both numbered 0',
    stream: stream(head, [
      thinks({ type: 'reasoning.summary', summary: '**Plan', format: 'openai-responses-v1' }, '**Plan'),
      thinks({ type: 'reasoning.summary', summary: 'ning**', format: 'openai-responses-v1' }, 'ning**'),
      thinks({ type: 'reasoning.encrypted', data: 'gAAAAAB', id: 'rs_1', format: 'openai-responses-v1' }),
      thinks({ type: 'reasoning.summary', summary: 'Again', format: 'openai-responses-v1' }, 'Again'),
      deltaChunk({ content: 'Ok' }),
      finishChunk('stop', 'completed'),
    ]),
    body: {
      ...plain,
      choices: [
        answered(
          {
            content: 'Ok',
            reasoning: '**Planning**Again',
            reasoning_details: [
              { type: 'reasoning.summary', summary: '**Planning**', format: 'openai-responses-v1', index: 0 },
              { type: 'reasoning.encrypted', data: 'gAAAAAB', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
              { type: 'reasoning.summary', summary: 'Again', format: 'openai-responses-v1', index: 0 },
            ],
          },
          'stop',
          'completed',
        ),
      ],
    },
    completeness: 'whole',
  },
  {
    name: 'Aggregator: thoughts numbered one by one',
    stream: stream(
      head,
      [0, 0, 1, 1]
        .map((index, at) => thinks({ type: 'reasoning.text', text: `t${at}`, index }))
        .concat([finishChunk('stop', 'stop')]),
    ),
    body: {
      ...plain,
      choices: [
        answered({
          content: '',
          reasoning: null,
          reasoning_details: ['t0t1', 't2t3'].map((text, index) => ({
            type: 'reasoning.text',
            text,
            format: 'anthropic-claude-v1',
            index,
          })),
        }),
      ],
    },
    completeness: 'empty_message',
  },
  {
    name: 'Aggregator: parallel tool calls, numbered in the plain answer too',
    stream: stream(head, [
      deltaChunk({
        content: null,
        tool_calls: [{ index: 0, id: 'tool_add_1', type: 'function', function: { name: 'add', arguments: '' } }],
      }),
      deltaChunk({ content: null, tool_calls: [{ index: 0, function: { arguments: '{"a":2}' } }] }),
      deltaChunk({
        content: null,
        tool_calls: [{ index: 1, id: 'tool_mul_2', type: 'function', function: { name: 'mul', arguments: '' } }],
      }),
      deltaChunk({ content: null, tool_calls: [{ index: 1, function: { arguments: '{"a":3}' } }] }),
      finishChunk('tool_calls', 'STOP'),
      usageOnlyChunk(usage),
    ]),
    body: {
      ...plain,
      choices: [
        answered(
          {
            content: null,
            tool_calls: [
              { index: 0, id: 'tool_add_1', type: 'function', function: { name: 'add', arguments: '{"a":2}' } },
              { index: 1, id: 'tool_mul_2', type: 'function', function: { name: 'mul', arguments: '{"a":3}' } },
            ],
          },
          'tool_calls',
          'STOP',
        ),
      ],
      usage,
    },
    completeness: 'whole',
  },
  {
    name: 'Aggregator: an image as the answer',
    stream: stream(head, [
      deltaChunk({ content: 'Here: ' }),
      deltaChunk({ images: [image] }),
      finishChunk('stop', 'STOP'),
    ]),
    body: { ...plain, choices: [answered({ content: 'Here: ', images: [image] }, 'stop', 'STOP')] },
    completeness: 'whole',
  },
  {
    name: 'Aggregator: citations, each once',
    stream: stream(head, [
      deltaChunk({ content: 'So.' }),
      deltaChunk({ annotations: [citation] }),
      finishChunk('stop', 'stop'),
    ]),
    body: { ...plain, choices: [answered({ content: 'So.', annotations: [citation] })] },
    completeness: 'whole',
  },
  {
    name: 'Aggregator: error in mid-stream beside a choice',
    stream: stream(head, [deltaChunk({ content: 'Hel' }), { error: providerError, ...finishChunk('error', 'error') }]),
    body: { ...plain, choices: [answered({ content: 'Hel' }, 'error', 'error')] },
    completeness: 'error_in_stream',
    plainCompleteness: 'error_in_choice',
    error: providerError,
  },
  {
    name: 'Aggregator: error inside a choice',
    stream: stream(head, [
      deltaChunk({ content: 'Hel' }),
      deltaChunk({}, { finish_reason: 'error', error: providerError }),
    ]),
    body: {
      ...plain,
      choices: [answered({ content: 'Hel' }, 'error', 'error', { native_finish_reason: null, error: providerError })],
    },
    completeness: 'error_in_stream',
    plainCompleteness: 'error_in_choice',
    error: providerError,
  },
  {
    name: 'Aggregator: error instead of an answer, in a 200',
    stream: `: OPENROUTER PROCESSING\n\ndata: ${JSON.stringify({ error: providerError })}\n\n`,
    plain: JSON.stringify({ error: providerError, user_id: 'user_1' }),
    body: { object: 'chat.completion', choices: [] },
    completeness: 'error_in_stream',
    plainCompleteness: 'error_in_body',
    error: providerError,
  },
  {
    name: 'Aggregator: a refusal by filter under an innocent finish_reason',
    stream: stream(head, [deltaChunk({ content: 'I can’t help with that.' }), finishChunk('stop', 'refusal')]),
    body: { ...plain, choices: [answered({ content: 'I can’t help with that.' }, 'stop', 'refusal')] },
    completeness: 'content_filter',
  },
  {
    name: 'Aggregator: blocked by a vendor’s safety settings',
    stream: stream(head, [deltaChunk({ refusal: 'Blocked.' }), finishChunk('content_filter', 'SAFETY')]),
    body: { ...plain, choices: [answered({ content: '', refusal: 'Blocked.' }, 'content_filter', 'SAFETY')] },
    completeness: 'content_filter',
  },
  {
    name: 'Aggregator: CRLF line ends',
    stream: stream(head, [deltaChunk({ content: 'Line\n' }), finishChunk('stop', 'stop'), usageOnlyChunk(usage)], {
      newline: '\r\n',
      ...comments,
    }),
    body: { ...plain, choices: [answered({ content: 'Line\n' })], usage },
    completeness: 'whole',
  },
  {
    name: 'Aggregator: an undocumented native finish reason',
    stream: stream(head, [deltaChunk({ content: 'x' }), finishChunk('abort', 'abort')]),
    body: { ...plain, choices: [answered({ content: 'x' }, 'abort', 'abort')] },
    completeness: 'unknown_finish_reason',
  },
  {
    name: 'Aggregator: legacy completion with thoughts',
    stream: stream({ ...top, object: 'text_completion' }, [
      { choices: [{ index: 0, text: '', reasoning: 'Hm', finish_reason: null, native_finish_reason: null }] },
      { choices: [{ index: 0, text: '', reasoning: 'm.', finish_reason: null, native_finish_reason: null }] },
      { choices: [{ index: 0, text: 'Yes', reasoning: null, finish_reason: null, native_finish_reason: null }] },
      { choices: [{ index: 0, text: '', finish_reason: 'stop', native_finish_reason: 'stop' }] },
    ]),
    body: {
      ...top,
      object: 'text_completion',
      choices: [{ index: 0, text: 'Yes', reasoning: 'Hmm.', finish_reason: 'stop', native_finish_reason: 'stop' }],
    },
    completeness: 'whole',
  },
]
