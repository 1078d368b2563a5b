/** Responses that failed, were cut or were filtered, and complete responses that look like these. */
import type { Expected, ProviderCase } from '../case.ts'
import {
  COST,
  chatStream,
  chunk,
  DONE,
  frame,
  inBothModes,
  MESSAGE_STOP,
  MESSAGE_TEXT,
  messageBody,
  messageDelta,
  messageStart,
  plain,
  ROLE,
  siblingCase,
  streamed,
  typedEvents,
  USAGE,
  usageChunk,
} from '../write-bytes.ts'

const FAILED: Expected = { end: 'error', store: false }
/** The response began, so its tokens are charged. */
const FAILED_LATE: Expected = { ...FAILED, minCost: 1e-9 }
const COUNTED = { input_tokens: 1000, output_tokens: 100 }

const ends = (words: string[], expected: Expected) =>
  words.map(finish => siblingCase(`end-${finish}`, `finish_reason ${finish}`, inBothModes({ finish }), expected))

const LATE_ERRORS: Record<string, string> = {
  'a text': frame({ error: 'model runner has stopped' }),
  'an object': frame({ error: { message: 'overloaded', code: 529 } }),
  'an object with a choice': chunk({ content: '' }, 'error', {
    error: { message: 'Provider returned error', code: 502 },
  }),
  'an event of its own name': `event: error\n${frame({ message: 'overloaded', type: 'server_error' })}`,
  'an object of the type error': frame({ object: 'error', message: 'out of memory', type: 'Internal', code: 500 }),
  'a field of the stream': 'error: {"code":500,"message":"slot lost"}\n\n',
  'within the choice': chunk({}, null, {}, { error: { message: 'Provider returned error', code: 502 } }),
  'unreadable JSON': 'data: {"choices":[{"index":0,"delta":{"conte\n\n',
}

const ofClaude: ProviderCase[] = [
  siblingCase(
    'claude-null',
    'stop_reason null, own Anthropic key',
    {
      ...streamed(messageStart(COUNTED) + MESSAGE_TEXT + messageDelta(null, { output_tokens: 100 }) + MESSAGE_STOP),
      ...plain(messageBody([{ type: 'text', text: 'Hi' }], null, COUNTED)),
    },
    FAILED,
    { project: 'ant' },
  ),
  siblingCase(
    'claude-no-stop',
    'no message_delta and no message_stop, own Anthropic key',
    streamed(messageStart(COUNTED) + MESSAGE_TEXT),
    { ...FAILED, minCost: 0.001 },
    { project: 'ant' },
  ),
  siblingCase(
    'claude-no-message-stop',
    'stop_reason and usage, but no message_stop, own Anthropic key',
    streamed(messageStart(COUNTED) + MESSAGE_TEXT + messageDelta('end_turn', { output_tokens: 100 })),
    { text: 'Hi', end: 'stop', noFail: true },
    { project: 'ant' },
  ),
  siblingCase(
    'claude-unknown',
    'an unknown stop_reason, own Anthropic key',
    {
      ...streamed(messageStart(COUNTED) + MESSAGE_TEXT + messageDelta('outage', { output_tokens: 100 }) + MESSAGE_STOP),
      ...plain(messageBody([{ type: 'text', text: 'Hi' }], 'outage', COUNTED)),
    },
    {
      'chat/streamed': FAILED,
      'chat/plain': FAILED,
      'responses/streamed': FAILED,
      'responses/plain': FAILED,
      all: { end: 'any', store: false },
    },
    { project: 'ant' },
  ),
  siblingCase(
    'claude-refusal',
    'stop_reason refusal, own Anthropic key',
    {
      ...streamed(
        messageStart(COUNTED) + MESSAGE_TEXT + messageDelta('refusal', { output_tokens: 100 }) + MESSAGE_STOP,
      ),
      ...plain(messageBody([{ type: 'text', text: 'Hi' }], 'refusal', COUNTED)),
    },
    { end: 'filter', store: false },
    { project: 'ant' },
  ),
  siblingCase(
    'claude-late-error',
    'an error event after text, own Anthropic key',
    streamed(
      messageStart(COUNTED) +
        MESSAGE_TEXT +
        typedEvents({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    ),
    { ...FAILED, minCost: 0.001 },
    { project: 'ant' },
  ),
]

export const ENDS: readonly ProviderCase[] = [
  ...ends(
    ['network_error', 'ABORT', 'OTHER', 'malformed_response', 'server_error', 'timeout', 'cancelled'],
    FAILED_LATE,
  ),
  ...ends(['sensitive', 'SAFETY', 'recitation', 'RECITATION', 'CONTENT_FILTER', 'prohibited_content', 'refusal'], {
    end: 'filter',
    store: false,
    cost: COST,
  }),
  ...ends(['LENGTH', 'Max_Tokens', 'model_context_window_exceeded', 'max_output_tokens'], {
    text: 'Hi',
    end: 'length',
  }),
  ...ends(['STOP', 'eos', 'end_turn', 'stop_sequence', 'EOS'], { text: 'Hi', end: 'stop', store: true, cost: COST }),
  ...Object.entries(LATE_ERRORS).map(([what, event]) =>
    siblingCase(
      `late-error: ${what}`,
      'an error after text',
      streamed(ROLE + chunk({ content: 'Half' }) + event + DONE),
      {
        ...FAILED_LATE,
      },
    ),
  ),
  siblingCase('failed-counted', 'finish_reason error beside a usage', inBothModes({ finish: 'error' }), {
    ...FAILED,
    minCost: COST,
  }),
  siblingCase(
    'native-filter',
    'finish_reason stop, native_finish_reason SAFETY',
    {
      ...streamed(ROLE + chunk({ content: 'Hi' }) + chunk({}, 'stop', {}, { native_finish_reason: 'SAFETY' }) + DONE),
    },
    { end: 'any', store: false },
  ),
  siblingCase('cut-no-done', 'text, and the end of the body', streamed(ROLE + chunk({ content: 'Half' })), FAILED_LATE),
  siblingCase(
    'null-error',
    'error: null in every chunk is no error',
    {
      ...streamed(
        chunk({ role: 'assistant', content: 'Hi' }, null, { error: null }) +
          chunk({}, 'stop', { error: null, usage: USAGE }) +
          DONE,
      ),
    },
    { text: 'Hi', end: 'stop', store: true, cost: COST },
  ),
  siblingCase(
    'groq-id',
    'x_groq without an error is no error',
    {
      ...streamed(
        chunk({ role: 'assistant', content: 'Hi' }, null, { x_groq: { id: 'req_1', error: null } }) +
          chunk({}, 'stop', { x_groq: { id: 'req_1', usage: USAGE } }) +
          DONE,
      ),
    },
    { text: 'Hi', end: 'stop', store: true, p: 1000, c: 100 },
    { project: 'groq' },
  ),
  siblingCase(
    'azure-filters',
    'a first chunk without choices',
    {
      ...streamed(frame({ choices: [], prompt_filter_results: [] }) + chatStream({})),
    },
    { text: 'Hi', end: 'stop', store: true },
  ),
  siblingCase(
    'empty-answer',
    'no word, and no token counted, is an answer',
    {
      ...inBothModes({
        deltas: [],
        message: { content: '' },
        usage: { ...USAGE, completion_tokens: 0, total_tokens: 1000 },
      }),
    },
    { text: '', end: 'stop', store: false, noFail: true },
  ),
  siblingCase(
    'thought-to-the-limit',
    'nothing but reasoning, up to the limit',
    {
      ...inBothModes({
        deltas: [{ reasoning_content: 'Hm.' }],
        message: { content: '', reasoning_content: 'Hm.' },
        finish: 'length',
      }),
    },
    { end: 'length', reasoning: 'Hm.', store: false, cost: COST },
  ),
  siblingCase(
    'filtered-to-nothing',
    'nothing but a filter',
    {
      ...inBothModes({ deltas: [], message: { content: '' }, finish: 'content_filter' }),
    },
    { text: '', end: 'filter', store: false },
  ),
  siblingCase('full-context', 'a length finish far below the limit of max_tokens', inBothModes({ finish: 'length' }), {
    'messages/streamed': { text: 'Hi', end: 'length', store: false },
    'messages/plain': { text: 'Hi', end: 'length', store: false },
  }),
  siblingCase(
    'full-context-chat',
    'the same at chat',
    inBothModes({ finish: 'length' }),
    {
      'chat/streamed': { text: 'Hi', end: 'length', store: false },
      'chat/plain': { text: 'Hi', end: 'length', store: false },
    },
    { extra: { max_tokens: 4096 } },
  ),
  siblingCase(
    'full-context-responses',
    'the same at responses',
    inBothModes({ finish: 'length' }),
    {
      'responses/streamed': { text: 'Hi', end: 'length', store: false },
      'responses/plain': { text: 'Hi', end: 'length', store: false },
    },
    { extra: { max_output_tokens: 4096 } },
  ),
  siblingCase(
    'limit-reached',
    'a length finish at the limit of the client',
    inBothModes({ finish: 'length' }),
    {
      'chat/streamed': { text: 'Hi', end: 'length', store: true },
      'chat/plain': { text: 'Hi', end: 'length', store: true },
      'messages/streamed': { text: 'Hi', end: 'length', store: true },
      'messages/plain': { text: 'Hi', end: 'length', store: true },
    },
    { extra: { max_tokens: 100 } },
  ),
  siblingCase(
    'usage-before-end',
    'usage, then the finish reason',
    {
      ...streamed(ROLE + chunk({ content: 'Hi' }) + usageChunk(USAGE) + chunk({}, 'stop') + DONE),
    },
    { text: 'Hi', end: 'stop', store: true, cost: COST },
  ),
  ...ofClaude,
]
