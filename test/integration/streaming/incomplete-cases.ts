/** One upstream answer for each way of not being whole. */
import type { IncompleteReason } from '../../../src/formats/chat/completeness.ts'
import type { Scenario } from '../../standin/scenario.ts'

export interface IncompleteCase {
  /** The answer to a streamed request; left out where a stream cannot be so. */
  stream?: Scenario
  /** The answer to a plain one. */
  plain?: Scenario
  /** What is asked for beside the question. */
  asked?: object
  /** Failed on upstream's side: not counted against the month. */
  isFailure?: true
  /** Neither a response nor its usage. */
  isEmpty?: true
}

const HEAD = { id: 'chatcmpl-1', created: 1, model: 'm' }
const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const ERROR = { message: 'Provider returned error', code: 502 }
const LOOK_UP = { type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: {} } } }
const MIB = 1024 * 1024

/** Every reason there is for a chat's answer: the compiler asks for a case when one is added. */
export const INCOMPLETE_CASES: Record<Exclude<IncompleteReason, 'other_dimensions'>, IncompleteCase> = {
  not_an_answer: { stream: events(), plain: body({ choices: [], usage: undefined }), isEmpty: true },
  error_in_body: { plain: { kind: 'errorInAnswer', shape: 'bare', afterChunks: 0 }, isFailure: true, isEmpty: true },
  error_in_choice: {
    stream: events(choice({ delta: { content: 'Hel' } }), choice({ finish_reason: 'error' })),
    plain: body({ choices: [{ index: 0, message: { content: 'Hel' }, finish_reason: 'error', error: ERROR }] }),
    isFailure: true,
  },
  empty_choice: {
    stream: events(choice({ finish_reason: 'stop' })),
    plain: body({ choices: [{ index: 0, finish_reason: 'stop' }] }),
  },
  nothing_said: both({ kind: 'answer', content: '' }),
  unfinished_choice: {
    stream: events(choice({ delta: { content: 'Hel' } })),
    plain: body({ choices: [{ index: 0, message: { role: 'assistant', content: 'Hel' }, finish_reason: null }] }),
  },
  content_filter: both({ kind: 'answer', content: 'Step one', finishReason: 'content_filter' }),
  provider_length_limit: both({ kind: 'answer', content: 'One two', finishReason: 'length' }),
  unknown_finish_reason: both({ kind: 'answer', content: 'One', finishReason: 'abort' }),
  error_in_stream: {
    stream: { kind: 'errorInAnswer', shape: 'choice', afterChunks: 3, withDone: true },
    isFailure: true,
  },
  malformed_chunk: { stream: events(choice({ delta: { content: 'Hel' }, finish_reason: 'stop' }), '{"choices":[{"in') },
  inconsistent_chunks: {
    stream: events(
      choice({ delta: { content: [{ type: 'thinking', thinking: [] }] } }),
      choice({ delta: { content: 'Yes' }, finish_reason: 'stop' }),
    ),
  },
  too_few: {
    stream: events(choice({ delta: { content: 'One' }, finish_reason: 'stop' })),
    plain: body({ choices: [{ index: 0, message: { role: 'assistant', content: 'One' }, finish_reason: 'stop' }] }),
    asked: { n: 2 },
  },
  cut_arguments: both({ kind: 'answer', toolCalls: [{ name: 'look_up', arguments: '{"city": "Par' }] }),
  no_json: both({ kind: 'answer', content: '{"city": "Par' }, { response_format: { type: 'json_object' } }),
  no_call: both({ kind: 'answer', content: 'No.' }, { tools: [LOOK_UP], tool_choice: 'required' }),
  too_large: {
    stream: events(
      ...Array.from({ length: 70 }, () => choice({ delta: { content: 'x'.repeat(MIB) } })),
      choice({ delta: {}, finish_reason: 'stop' }),
      JSON.stringify({ ...HEAD, choices: [], usage: USAGE }),
    ),
  },
  missing_done: { stream: { kind: 'answer', content: 'One two', withoutDone: true } },
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

function body(fields: object): Scenario {
  const text = JSON.stringify({ ...HEAD, object: 'chat.completion', usage: USAGE, ...fields })
  return { kind: 'raw', headers: { 'content-type': 'application/json' }, parts: [text] }
}
