/** A provider's response for each way of being incomplete. */
import type { IncompleteReason } from '../../../src/formats/chat/completeness.ts'
import type { RawScenario, Scenario } from '../../fake-provider/scenario.ts'

export interface IncompleteCase {
  /** The response to a streamed request; omitted where a stream cannot be incomplete in this way. */
  stream?: Scenario
  /** The response to a plain request. */
  plain?: Scenario
  /** Further fields of the request. */
  asked?: object
  /** The endpoint: chat, unless the case occurs only elsewhere. */
  endpoint?: 'messages' | 'responses'
  /** A failure of the provider, which does not count in the month. */
  isFailure?: true
  /** Neither a response nor usage. */
  isEmpty?: true
}

const HEAD = { id: 'chatcmpl-1', created: 1, model: 'm' }
const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
}
const ERROR = { message: 'Provider returned error', code: 502 }
const IMAGE_CALL = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AAAA' }
const MESSAGE = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [textPart('One')] }
const LOOK_UP = { type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: {} } } }
const MIB = 1024 * 1024

/** Every reason that a chat response can have: the compiler requires a case for each. */
export const INCOMPLETE_CASES: Record<Exclude<IncompleteReason, 'wrong_dimensions'>, IncompleteCase> = {
  not_a_response: { stream: events(), plain: body({ choices: [], usage: undefined }), isFailure: true, isEmpty: true },
  error_in_body: { plain: { kind: 'errorInAnswer', shape: 'bare', afterChunks: 0 }, isFailure: true, isEmpty: true },
  error_in_choice: {
    stream: events(choice({ delta: { content: 'Hel' } }), choice({ finish_reason: 'error' })),
    plain: body({ choices: [{ index: 0, message: { content: 'Hel' }, finish_reason: 'error', error: ERROR }] }),
    isFailure: true,
  },
  empty_choice: {
    stream: events(choice({ finish_reason: 'stop' })),
    plain: body({ choices: [{ index: 0, finish_reason: 'stop' }], usage: undefined }),
    isFailure: true,
    isEmpty: true,
  },
  no_output: { ...both({ kind: 'answer', content: '', usage: { completion_tokens: 9 } }), isFailure: true },
  empty_message: both({ kind: 'answer', content: '' }),
  unfinished_choice: {
    stream: events(choice({ delta: { content: 'Hel' } })),
    plain: body({ choices: [{ index: 0, message: { role: 'assistant', content: 'Hel' }, finish_reason: null }] }),
    isFailure: true,
  },
  content_filter: both({ kind: 'answer', content: 'Step one', finishReason: 'content_filter' }),
  provider_length_limit: both({ kind: 'answer', content: 'One two', finishReason: 'length' }),
  unknown_finish_reason: { ...both({ kind: 'answer', content: 'One', finishReason: 'abort' }), isFailure: true },
  unknown_stop_reason: {
    endpoint: 'responses',
    stream: responseEvents({ status: 'incomplete', incomplete_details: { reason: 'steered' }, output: [MESSAGE] }),
    plain: response({ status: 'incomplete', incomplete_details: { reason: 'steered' }, output: [MESSAGE] }),
  },
  pending: {
    endpoint: 'responses',
    stream: responseEvents({ output: [MESSAGE, { ...MESSAGE, status: 'in_progress' }] }),
    plain: response({ status: 'in_progress', background: true, output: [MESSAGE] }),
  },
  omitted_parts: {
    endpoint: 'messages',
    stream: responseEvents({ output: [MESSAGE, IMAGE_CALL] }),
    plain: response({ output: [MESSAGE, IMAGE_CALL] }),
  },
  invalid_utf8: {
    plain: {
      ...body({ choices: [{ index: 0, message: { content: 'Caf\u00e9' }, finish_reason: 'stop' }] }),
      encoding: 'latin1',
    },
  },
  error_in_stream: {
    stream: { kind: 'errorInAnswer', shape: 'choice', afterChunks: 3, withDone: true },
    isFailure: true,
  },
  malformed_chunk: {
    stream: events(choice({ delta: { content: 'Hel' }, finish_reason: 'stop' }), '{"choices":[{"in'),
    isFailure: true,
  },
  inconsistent_chunks: {
    stream: events(
      choice({ delta: { content: 'Yes', trace: 'eu' } }),
      choice({ delta: { trace: { region: 'eu' } }, finish_reason: 'stop' }),
    ),
  },
  too_few_results: {
    stream: events(choice({ delta: { content: 'One' }, finish_reason: 'stop' })),
    plain: body({ choices: [{ index: 0, message: { role: 'assistant', content: 'One' }, finish_reason: 'stop' }] }),
    asked: { n: 2 },
  },
  invalid_arguments: both({ kind: 'answer', toolCalls: [{ name: 'look_up', arguments: '{"city": "Par' }] }),
  invalid_json: both({ kind: 'answer', content: '{"city": "Par' }, { response_format: { type: 'json_object' } }),
  missing_tool_call: both({ kind: 'answer', content: 'No.' }, { tools: [LOOK_UP], tool_choice: 'required' }),
  too_large: {
    stream: events(
      ...Array.from({ length: 70 }, () => choice({ delta: { content: 'x'.repeat(MIB) } })),
      choice({ delta: {}, finish_reason: 'stop' }),
      JSON.stringify({ ...HEAD, choices: [], usage: USAGE }),
    ),
  },
  missing_end: { stream: { kind: 'raw', parts: [': OK\n\n'] }, isFailure: true, isEmpty: true },
}

function both(scenario: Scenario, asked: object = {}): IncompleteCase {
  return { stream: scenario, plain: scenario, asked }
}

function choice(fields: object): string {
  const choices = [{ index: 0, finish_reason: null, ...fields }]
  return JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', choices })
}

function events(...data: string[]): Scenario {
  return { kind: 'raw', parts: [...data, '[DONE]'].map(item => `data: ${item}\n\n`) }
}

function textPart(text: string) {
  return { type: 'output_text', text, annotations: [] }
}

/** A Responses stream that ends with this response. */
export function responseEvents(fields: object): Scenario {
  const written = { ...RESPONSE, ...fields }
  const typed = [
    { type: 'response.created', response: { ...written, status: 'in_progress', error: null, output: [], usage: null } },
    { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'One' },
    { type: `response.${written.status}`, response: written },
  ]
  return { kind: 'raw', parts: typed.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`) }
}

function response(fields: object): RawScenario {
  const headers = { 'content-type': 'application/json' }
  return { kind: 'raw', headers, parts: [JSON.stringify({ ...RESPONSE, ...fields })] }
}

function body(fields: object): RawScenario {
  const text = JSON.stringify({ ...HEAD, object: 'chat.completion', usage: USAGE, ...fields })
  return { kind: 'raw', headers: { 'content-type': 'application/json' }, parts: [text] }
}
