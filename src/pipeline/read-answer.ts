/** Reads and assesses a provider's response once all of it has arrived. */

import type { TokenUsage } from '../catalogue/catalogue.ts'
import type { GatheredBytes } from '../event-loop/gather-bytes.ts'
import { Job, offLoop } from '../event-loop/off-loop.ts'
import type { JsonObject } from '../json/canonical.ts'
import { MAX_PLAIN_BYTES, readBytes } from '../providers/read-bytes.ts'
import type { Endpoint } from '../providers/upstream.ts'
import { broken } from '../providers/upstream-failure.ts'
import { countAside } from '../tokens/count-aside.ts'
import { estimatePromptTokens } from '../tokens/count-tokens.ts'
import { estimateTextTokens } from '../tokens/estimate-text.ts'
import { type AnswerInput, assessAnswer, type ReadAnswer } from './assess-answer.ts'

const JOBS = new URL('./jobs.ts', import.meta.url)
const READ = new Job<AnswerInput & { parts: readonly Uint8Array[] }, ReadAnswer>(JOBS, 'readAnswer')

/** Reads and assesses a whole plain response, a long one in a worker. Throws a 502 when it is not a JSON object. */
export async function readAnswer(
  body: ReadableStream<Uint8Array>,
  provider: string,
  { endpoint, request }: AnswerInput,
): Promise<ReadAnswer & { completeness: NonNullable<ReadAnswer['completeness']> }> {
  const bytes = await readBytes(body, provider, MAX_PLAIN_BYTES)
  const read =
    'whole' in bytes
      ? assessAnswer(bytes.whole, { endpoint, request })
      : await assessAside(bytes.gathered, { endpoint, request: takeScalars(request) })
  const { completeness } = read
  if (completeness === null) throw broken(provider, 'gave an answer that is not a JSON object')
  return { ...read, completeness }
}

function assessAside(gathered: GatheredBytes, asked: AnswerInput): Promise<ReadAnswer> {
  return offLoop.run(READ, { parts: gathered.parts, ...asked }, { transfer: gathered.buffers })
}

/** The request's scalar fields: only they are cheap to hand to a worker. */
function takeScalars(request: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(request).filter(([, value]) => typeof value !== 'object' && !isLong(value)))
}

const isLong = (value: unknown) => typeof value === 'string' && value.length > 256

/** The usage that the provider reported. Without one, also for a cut response, the tokenizer counts it. */
export async function usageOf(
  endpoint: Endpoint,
  request: JsonObject,
  { usage, model, text }: Pick<ReadAnswer, 'usage' | 'model' | 'text'>,
): Promise<TokenUsage> {
  const answeredAs = typeof model === 'string' ? { answeredAs: model } : {}
  if (usage) return { ...usage, ...answeredAs }
  const counting = countAside({ endpoint, request, text })
  // A worker that died of its job must not keep the request open.
  const { promptTokens, textTokens } = await counting.catch(() => ({
    promptTokens: estimatePromptTokens(request, endpoint),
    textTokens: estimateTextTokens(text),
  }))
  return { promptTokens, cachedPromptTokens: 0, completionTokens: textTokens, reportedCostUsd: null, ...answeredAs }
}
