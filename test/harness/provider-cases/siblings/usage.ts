/** Usage in every shape. Counts are never below the reported ones, and unknown usage is not zero. */

import type { Expected, ProviderCase } from '../case.ts'
import type { CaseOptions } from '../write-bytes.ts'
import {
  COST,
  chunk,
  DONE,
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
  USAGE,
  usageChunk,
} from '../write-bytes.ts'

const WHOLE: Expected = { text: 'Hi', end: 'stop' }
const COUNTED: Expected = { ...WHOLE, p: 1000, c: 100, cost: COST }
/** Unknown usage is estimated, and its cost is above zero. */
const UNKNOWN: Expected = { ...WHOLE, minCost: 1e-9 }

const counts = (id: string, usage: unknown, expected: Expected, options?: CaseOptions) =>
  siblingCase(`usage-${id}`, JSON.stringify(usage), inBothModes({ usage }), expected, options)

const inChunks = (id: string, what: string, ...chunks: string[]) =>
  siblingCase(`usage-${id}`, what, streamed(ROLE + chunks.join('') + DONE), COUNTED)

const SAID = chunk({ content: 'Hi' })
const response = (usage: unknown) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_790_000_000,
  status: 'completed',
  model: 'gpt-4o-mini',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
    },
  ],
  usage,
  error: null,
  incomplete_details: null,
})

const ofClaude = (id: string, start: unknown, delta: unknown, expected: Expected) =>
  siblingCase(
    `usage-claude-${id}`,
    `message_start: ${JSON.stringify(start)}, message_delta: ${JSON.stringify(delta)}`,
    streamed(messageStart(start) + MESSAGE_TEXT + messageDelta('end_turn', delta) + MESSAGE_STOP),
    { ...WHOLE, ...expected },
    { project: 'ant' },
  )

export const USAGES: readonly ProviderCase[] = [
  counts('total-alone', { total_tokens: 1100 }, UNKNOWN),
  counts('null', null, UNKNOWN),
  counts('list', [1000, 100], UNKNOWN),
  counts('prompt-alone', { prompt_tokens: 1000 }, { ...UNKNOWN, minCost: 0.00015 }),
  counts('nulls', { prompt_tokens: null, completion_tokens: null, total_tokens: null }, UNKNOWN),
  counts('zeros', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, UNKNOWN),
  counts('negative', { prompt_tokens: -1000, completion_tokens: -100, total_tokens: -1100 }, UNKNOWN),
  counts('words', { prompt_tokens: 'many', completion_tokens: {}, total_tokens: true }, UNKNOWN),
  counts('floats', { prompt_tokens: 1000.0, completion_tokens: 100.0, total_tokens: 1100.0 }, COUNTED),
  counts('null-details', { ...USAGE, prompt_tokens_details: null, completion_tokens_details: null }, COUNTED),
  counts('no-details', { ...USAGE, prompt_tokens_details: { cached_tokens: null } }, COUNTED),
  counts('total-too-small', { ...USAGE, total_tokens: 3 }, COUNTED),
  counts(
    'cached-beyond',
    { ...USAGE, prompt_tokens_details: { cached_tokens: 5000 } },
    { ...WHOLE, c: 100, minCost: 0.000135 },
  ),
  counts(
    'two-cached',
    { ...USAGE, prompt_cache_hit_tokens: 600, prompt_tokens_details: { cached_tokens: 600 } },
    { ...WHOLE, p: 1000, cp: 600, c: 100, cost: 0.000165 },
  ),
  counts(
    'gemini',
    { prompt_tokens: 1000, completion_tokens: 2, total_tokens: 1342 },
    { ...WHOLE, p: 1000, c: 342, cost: 0.0003552 },
  ),
  counts('reasoning-within', { ...USAGE, completion_tokens_details: { reasoning_tokens: 80 } }, { ...COUNTED }),
  counts('cost-negative', { ...USAGE, cost: -1 }, COUNTED),
  counts('cost-null', { ...USAGE, cost: null }, COUNTED),
  counts('cost-reported', { ...USAGE, cost: 0.01 }, { ...WHOLE, p: 1000, c: 100, cost: 0.01 }),
  counts('cost-of-openai', { ...USAGE, cost: 5 }, COUNTED, { project: 'oai' }),
  counts(
    'byok-and-fee',
    { ...USAGE, cost: 0.001, is_byok: true, cost_details: { upstream_inference_cost: 0.02 } },
    {
      ...WHOLE,
      cost: 0.021,
    },
  ),
  siblingCase('usage-none', 'none at all', inBothModes({ usage: 'none' }), UNKNOWN),
  siblingCase('usage-none-oai', 'none at all, own OpenAI key', inBothModes({ usage: 'none' }), UNKNOWN, {
    project: 'oai',
  }),
  siblingCase('usage-none-groq', 'none at all, own Groq key', inBothModes({ usage: 'none' }), UNKNOWN, {
    project: 'groq',
  }),
  inChunks(
    'later-nulls',
    'nulls in a later chunk',
    SAID,
    chunk({}, 'stop', { usage: USAGE }),
    usageChunk({ prompt_tokens: null, completion_tokens: null, total_tokens: null }),
  ),
  inChunks('later-null', 'null in a later chunk', SAID, chunk({}, 'stop', { usage: USAGE }), usageChunk(null)),
  inChunks(
    'later-part',
    'a part in each of two chunks',
    SAID,
    chunk({}, 'stop', { usage: { prompt_tokens: 1000 } }),
    usageChunk({ completion_tokens: 100 }),
  ),
  inChunks(
    'growing',
    'counts that grow with each chunk',
    chunk({ content: 'H' }, null, { usage: { prompt_tokens: 1000, completion_tokens: 1, total_tokens: 1001 } }),
    chunk({ content: 'i' }, null, { usage: { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 } }),
    chunk({}, 'stop', { usage: USAGE }),
  ),
  inChunks(
    'kimi-and-null',
    'usage within choices[0], null beside it',
    SAID,
    chunk({}, 'stop', { usage: null }, { usage: USAGE }),
  ),
  inChunks('with-text', 'text, finish reason and usage at once', chunk({ content: 'Hi' }, 'stop', { usage: USAGE })),
  ofClaude(
    'later-zeros',
    { input_tokens: 1000, output_tokens: 1 },
    { input_tokens: 0, output_tokens: 100 },
    {
      p: 1000,
      c: 100,
      cost: 0.0015,
    },
  ),
  ofClaude(
    'only-later',
    { input_tokens: 0, output_tokens: 0 },
    { input_tokens: 1000, output_tokens: 100 },
    {
      p: 1000,
      c: 100,
      cost: 0.0015,
    },
  ),
  ofClaude(
    'later-nulls',
    { input_tokens: 1000, output_tokens: 100 },
    { input_tokens: null, output_tokens: null },
    {
      p: 1000,
      c: 100,
      cost: 0.0015,
    },
  ),
  ofClaude(
    'texts',
    { input_tokens: '1000', output_tokens: '1' },
    { output_tokens: '100' },
    {
      p: 1000,
      c: 100,
      cost: 0.0015,
    },
  ),
  ofClaude('nothing', undefined, {}, { minCost: 1e-9 }),
  siblingCase(
    'usage-claude-plain',
    'no usage in a plain body, own Anthropic key',
    plain(messageBody([{ type: 'text', text: 'Hi' }], 'end_turn', undefined)),
    UNKNOWN,
    { project: 'ant' },
  ),
  siblingCase(
    'usage-responses-null',
    'usage null, own OpenAI key at responses',
    plain(JSON.stringify(response(null))),
    UNKNOWN,
    { project: 'oai' },
  ),
  siblingCase(
    'usage-responses-text',
    'counts as text, own OpenAI key at responses',
    plain(JSON.stringify(response({ input_tokens: '1000', output_tokens: '100', total_tokens: '1100' }))),
    COUNTED,
    { project: 'oai' },
  ),
]
