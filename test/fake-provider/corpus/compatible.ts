/** Responses of Groq and of other OpenAI-compatible servers, each with its own deviations. */

import { type CorpusEntry, deltaChunk, finishChunk, messageChoice, stream, usageOnlyChunk } from './format.ts'

const groqTop = {
  id: 'chatcmpl-f51b2cd2',
  created: 1_758_884_734,
  model: 'llama-3.3-70b',
  system_fingerprint: 'fp_6e6ff3688b',
}
const groqHead = { ...groqTop, object: 'chat.completion.chunk' }
const groqPlain = { ...groqTop, object: 'chat.completion', x_groq: { id: 'req_01k62v69' } }
const groqUsage = {
  queue_time: 0.035,
  prompt_tokens: 99,
  prompt_time: 0.0164,
  completion_tokens: 21,
  completion_time: 0.068,
  total_tokens: 120,
  total_time: 0.0846,
}
const groqOpening = deltaChunk({ role: 'assistant', content: '' }, {}, { x_groq: { id: 'req_01k62v69' } })
const groqClosing = { x_groq: { id: 'req_01k62v69', usage: groqUsage } }

const GROQ: CorpusEntry[] = [
  {
    name: 'Groq: usage in x_groq alone',
    stream: stream(groqHead, [
      groqOpening,
      deltaChunk({ content: 'It’s' }),
      deltaChunk({ content: ' hot.' }),
      finishChunk('stop', {}, groqClosing),
    ]),
    body: { ...groqPlain, choices: [messageChoice({ content: 'It’s hot.' })], usage: groqUsage },
    completeness: 'whole',
  },
  {
    name: 'Groq: usage three times over, the tier at the end',
    stream: stream(groqHead, [
      groqOpening,
      deltaChunk({ content: 'Hot.' }),
      finishChunk('stop', {}, { ...groqClosing, usage: groqUsage }),
      usageOnlyChunk(groqUsage, { service_tier: 'on_demand' }),
    ]),
    body: { ...groqPlain, choices: [messageChoice({ content: 'Hot.' })], usage: groqUsage, service_tier: 'on_demand' },
    completeness: 'whole',
  },
  {
    name: 'Groq: a tool call in one piece',
    stream: stream(groqHead, [
      deltaChunk({ role: 'assistant', content: null }, {}, { x_groq: { id: 'req_01k62v69' } }),
      deltaChunk({
        tool_calls: [
          {
            id: 'functions.weather:0',
            type: 'function',
            function: { name: 'weather', arguments: '{"l":"F"}' },
            index: 0,
          },
        ],
      }),
      finishChunk('tool_calls', {}, groqClosing),
    ]),
    body: {
      ...groqPlain,
      choices: [
        messageChoice(
          {
            content: null,
            tool_calls: [
              { id: 'functions.weather:0', type: 'function', function: { name: 'weather', arguments: '{"l":"F"}' } },
            ],
          },
          'tool_calls',
        ),
      ],
      usage: groqUsage,
    },
    completeness: 'whole',
  },
  {
    name: 'Groq: thoughts on a channel, tools it ran itself',
    stream: stream(groqHead, [
      groqOpening,
      deltaChunk({ channel_id: 'analysis', reasoning: 'We ' }),
      deltaChunk({ channel_id: 'analysis', reasoning: 'need.' }),
      deltaChunk({ executed_tools: [{ index: 0, type: 'search', arguments: '{"q":', name: 'search' }] }),
      deltaChunk({ executed_tools: [{ index: 0, type: 'search', arguments: '"x"}', output: 'Found' }] }),
      deltaChunk({ content: 'Yes.' }),
      finishChunk('stop', {}, groqClosing),
    ]),
    body: {
      ...groqPlain,
      choices: [
        messageChoice({
          content: 'Yes.',
          channel_id: 'analysis',
          reasoning: 'We need.',
          executed_tools: [{ index: 0, type: 'search', arguments: '{"q":"x"}', name: 'search', output: 'Found' }],
        }),
      ],
      usage: groqUsage,
    },
    completeness: 'whole',
  },
  {
    name: 'Groq: error under an event of its own',
    stream: `${stream(groqHead, [groqOpening], { done: false })}event: error\ndata: {"error":{"message":"Tool call validation failed","type":"invalid_request_error"}}\n\n`,
    plain: null,
    body: { ...groqPlain, choices: [messageChoice({ content: '' }, 'stop', { finish_reason: null })] },
    completeness: 'error_in_stream',
    error: { message: 'Tool call validation failed', type: 'invalid_request_error' },
  },
  {
    name: 'An error event without an error key',
    stream: `${stream(groqHead, [groqOpening], { done: false })}event: error\ndata: {"message":"overloaded"}\n\ndata: [DONE]\n\n`,
    plain: null,
    body: { ...groqPlain, choices: [messageChoice({ content: '' }, 'stop', { finish_reason: null })] },
    completeness: 'error_in_stream',
    error: { message: 'overloaded' },
  },
]

const top = { id: '5f1c', created: 1_750_000_000, model: 'some-model' }
const head = { ...top, object: 'chat.completion.chunk' }
const plain = { ...top, object: 'chat.completion' }
const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 }
const filters = { hate: { filtered: false, severity: 'safe' }, violence: { filtered: false, severity: 'safe' } }
const promptFilters = [{ prompt_index: 0, content_filter_results: filters }]

function weatherCall(id: string, city: string, fields: object = {}) {
  return { ...fields, id, type: 'function', function: { name: 'weather', arguments: `{"city":"${city}"}` } }
}

const COMPATIBLE: CorpusEntry[] = [
  {
    name: 'DeepSeek: thoughts, then content, each null while the other speaks',
    stream: stream({ ...head, system_fingerprint: 'fp_1' }, [
      deltaChunk({ role: 'assistant', content: null, reasoning_content: '' }),
      deltaChunk({ content: null, reasoning_content: 'Nine ' }),
      deltaChunk({ content: null, reasoning_content: 'is more.' }),
      deltaChunk({ content: '9.11', reasoning_content: null }),
      deltaChunk({ content: ' < 9.8', reasoning_content: null }),
      finishChunk(
        'stop',
        { delta: { content: '', reasoning_content: null } },
        { usage: { ...usage, prompt_cache_hit_tokens: 0 } },
      ),
    ]),
    body: {
      ...plain,
      system_fingerprint: 'fp_1',
      choices: [messageChoice({ content: '9.11 < 9.8', reasoning_content: 'Nine is more.' })],
      usage: { ...usage, prompt_cache_hit_tokens: 0 },
    },
    completeness: 'whole',
  },
  {
    name: 'DeepSeek: no capacity left',
    stream: stream(head, [
      deltaChunk({ role: 'assistant', content: 'Wai' }),
      finishChunk('insufficient_system_resource'),
    ]),
    body: { ...plain, choices: [messageChoice({ content: 'Wai' }, 'insufficient_system_resource')] },
    completeness: 'unknown_finish_reason',
  },
  {
    name: 'Azure: a first chunk about the prompt alone, filters beside every delta',
    stream: stream({}, [
      { choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: promptFilters },
      {
        ...head,
        ...deltaChunk({ role: 'assistant', content: '', refusal: null }, { content_filter_results: {} }),
        system_fingerprint: null,
      },
      { ...head, ...deltaChunk({ content: '40°C' }, { content_filter_results: filters }), system_fingerprint: null },
      { ...head, ...finishChunk('stop', { content_filter_results: {} }), system_fingerprint: null },
      { ...head, ...usageOnlyChunk(usage), system_fingerprint: null },
    ]),
    body: {
      ...plain,
      prompt_filter_results: promptFilters,
      system_fingerprint: null,
      choices: [messageChoice({ content: '40°C', refusal: null }, 'stop', { content_filter_results: filters })],
      usage,
    },
    completeness: 'whole',
  },
  {
    name: 'Perplexity: citations and the whole message so far, again in each chunk',
    stream: stream({ ...head, citations: ['https://example.org'] }, [
      deltaChunk(
        { role: 'assistant', content: 'Par' },
        { message: { role: 'assistant', content: 'Par' } },
        { usage: { completion_tokens: 1 } },
      ),
      deltaChunk(
        { content: 'is' },
        { message: { role: 'assistant', content: 'Paris' } },
        { usage: { completion_tokens: 2 } },
      ),
      finishChunk(
        'stop',
        { message: { role: 'assistant', content: 'Paris' } },
        { object: 'chat.completion.done', usage: { completion_tokens: 2 } },
      ),
    ]),
    body: {
      ...plain,
      citations: ['https://example.org'],
      choices: [messageChoice({ content: 'Paris' })],
      usage: { completion_tokens: 2 },
    },
    completeness: 'whole',
  },
  {
    name: 'A server that streams one whole message',
    stream: stream({ ...plain }, [{ choices: [messageChoice({ content: 'All at once.' })], usage }]),
    body: { ...plain, choices: [messageChoice({ content: 'All at once.' })], usage },
    completeness: 'whole',
  },
  {
    name: 'vLLM: another id with every fragment of a call, stop_reason, empty names',
    stream: stream(head, [
      deltaChunk({ role: 'assistant', content: '' }),
      deltaChunk({ tool_calls: [{ index: 0, id: 'tool-1', type: 'function', function: { name: 'weather' } }] }),
      deltaChunk({
        tool_calls: [{ index: 0, id: 'tool-1b', type: 'function', function: { name: '', arguments: '{"city":' } }],
      }),
      deltaChunk({
        tool_calls: [{ index: 0, id: 'tool-1b', type: 'function', function: { name: null, arguments: '"Bern"}' } }],
      }),
      finishChunk('tool_calls', { stop_reason: 128_008 }),
    ]),
    body: {
      ...plain,
      choices: [
        messageChoice({ content: '', tool_calls: [weatherCall('tool-1b', 'Bern')] }, 'tool_calls', {
          stop_reason: 128_008,
        }),
      ],
    },
    completeness: 'whole',
  },
  {
    name: 'Gemini by way of OpenAI’s format: every call numbered 0',
    stream: stream(head, [
      deltaChunk({
        role: 'assistant',
        tool_calls: [
          weatherCall('call_1', 'Rome', { index: 0, extra_content: { google: { thought_signature: 'CiQB' } } }),
        ],
      }),
      deltaChunk({ tool_calls: [weatherCall('call_2', 'Pisa', { index: 0 })] }),
      finishChunk('tool_calls'),
    ]),
    body: {
      ...plain,
      choices: [
        messageChoice(
          {
            tool_calls: [
              weatherCall('call_1', 'Rome', { extra_content: { google: { thought_signature: 'CiQB' } } }),
              weatherCall('call_2', 'Pisa'),
            ],
          },
          'tool_calls',
        ),
      ],
    },
    completeness: 'whole',
  },
  {
    name: 'Tool calls without numbers',
    stream: stream(head, [
      deltaChunk({ role: 'assistant', tool_calls: [weatherCall('call_1', 'Rome')] }),
      deltaChunk({
        tool_calls: [{ id: 'call_2', type: 'function', function: { name: 'weather', arguments: '{"city":' } }],
      }),
      deltaChunk({ tool_calls: [{ function: { arguments: '"Pisa"}' } }] }),
      finishChunk('tool_calls'),
    ]),
    body: {
      ...plain,
      choices: [
        messageChoice({ tool_calls: [weatherCall('call_1', 'Rome'), weatherCall('call_2', 'Pisa')] }, 'tool_calls'),
      ],
    },
    completeness: 'whole',
  },
  {
    name: 'A field that changes its type in mid-stream',
    stream: stream(head, [
      deltaChunk({ role: 'assistant', content: 'Yes', trace: 'a' }),
      deltaChunk({ trace: { region: 'eu' } }),
      finishChunk('stop'),
    ]),
    plain: null,
    body: { ...plain, choices: [messageChoice({ content: 'Yes', trace: { region: 'eu' } })] },
    completeness: 'inconsistent_chunks',
  },
  {
    name: 'Fields never seen before, nested, numbered and not',
    stream: stream({ ...head, trace: { region: 'eu' } }, [
      deltaChunk({
        role: 'assistant',
        content: '',
        plan: { goal: 'Find', steps: [{ index: 0, kind: 'look', note: 'he' }] },
      }),
      deltaChunk({
        plan: {
          goal: ' out',
          steps: [
            { index: 0, kind: 'look', note: 're' },
            { index: 1, kind: 'look', note: 'x' },
          ],
          done: false,
        },
      }),
      deltaChunk({ plan: { done: true, score: 0.5 }, sources: ['a'] }, {}, { trace: { hops: 2 } }),
      deltaChunk({ content: 'ok', sources: ['b', 'c'], constructor: 'c', toString: 't' }, { confidence: 0.9 }),
      finishChunk('stop', { confidence: 0.95 }),
    ]),
    body: {
      ...plain,
      trace: { region: 'eu', hops: 2 },
      choices: [
        messageChoice(
          {
            content: 'ok',
            plan: {
              goal: 'Find out',
              steps: [
                { index: 0, kind: 'look', note: 'here' },
                { index: 1, kind: 'look', note: 'x' },
              ],
              done: true,
              score: 0.5,
            },
            sources: ['a', 'b', 'c'],
            constructor: 'c',
            toString: 't',
          },
          'stop',
          { confidence: 0.95 },
        ),
      ],
    },
    completeness: 'whole',
  },
  {
    name: 'Choices without an index, a finish_reason beside the last words',
    stream: stream(head, [
      { choices: [{ delta: { role: 'assistant', content: 'Hi' } }] },
      { choices: [{ delta: { content: '!' }, finish_reason: 'stop' }] },
    ]),
    body: { ...plain, choices: [{ index: 0, message: { role: 'assistant', content: 'Hi!' }, finish_reason: 'stop' }] },
    completeness: 'whole',
  },
  {
    name: 'Byte-order mark, bare CRs, other fields, and no space after the colon',
    stream: `\uFEFF${stream(head, [deltaChunk({ role: 'assistant', content: 'Hi' }), finishChunk('stop')], { newline: '\r', preamble: 'retry: 10\nid: 7\n\n' }).replaceAll('data: ', 'data:')}`,
    body: { ...plain, choices: [messageChoice({ content: 'Hi' })] },
    completeness: 'whole',
  },
  {
    name: 'JSON over several data lines, and no line end after [DONE]',
    stream: `data: ${JSON.stringify({ ...head, ...deltaChunk({ role: 'assistant', content: 'Hi' }, { finish_reason: 'stop' }) }, null, 1).replaceAll('\n', '\ndata: ')}\n\ndata: [DONE]`,
    body: { ...plain, choices: [messageChoice({ content: 'Hi' })] },
    completeness: 'whole',
  },
  {
    name: 'Nothing but [DONE]',
    stream: 'data: [DONE]\n\n',
    body: { object: 'chat.completion', choices: [] },
    completeness: 'not_a_response',
  },
  {
    name: 'Nothing at all',
    stream: '',
    plain: null,
    body: { object: 'chat.completion', choices: [] },
    completeness: 'missing_end',
  },
  {
    name: 'A web page in place of an answer',
    stream: '<!doctype html>\n<title>502 Bad Gateway</title>\n',
    plain: '"<!doctype html>"',
    body: { object: 'chat.completion', choices: [] },
    completeness: 'missing_end',
    plainCompleteness: 'not_a_response',
  },
  {
    name: 'Events after [DONE]',
    stream: `${stream(head, [deltaChunk({ role: 'assistant', content: 'Hi' }, { finish_reason: 'stop' })])}data: {"error":{"message":"late"}}\n\n`,
    body: { ...plain, choices: [messageChoice({ content: 'Hi' })] },
    completeness: 'whole',
  },
]

export const COMPATIBLE_VENDORS: CorpusEntry[] = [...GROQ, ...COMPATIBLE]
