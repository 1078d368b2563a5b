/** What the pipeline needs to know about a plain response once all of it has arrived: whether it may be stored, and what it took. */
import { isUtf8 } from 'node:buffer'
import type { GatheredBytes } from '../event-loop/gather-bytes.ts'
import { Job, offLoop } from '../event-loop/off-loop.ts'
import type { Completeness } from '../formats/chat/completeness.ts'
import { formatOf } from '../formats/format-of.ts'
import { parseJsonObject } from '../formats/json/canonical.ts'
import { NO_USAGE, type TokenUsage } from '../formats/token-usage.ts'
import { countAside } from '../formats/tokens/count-aside.ts'
import { estimatePromptTokens } from '../formats/tokens/count-tokens.ts'
import { estimateTextTokens } from '../formats/tokens/estimate-text.ts'
import type { Wanted } from '../formats/wanted.ts'
import { MAX_PLAIN_BYTES, readBytes } from '../providers/read-bytes.ts'
import type { Endpoint } from '../providers/upstream.ts'
import { broken } from '../providers/upstream-failure.ts'
import { type AskedCall, type CutAnswer, isSentAsWritten, presumeMost, presumeSent } from './presumed-usage.ts'
import type { SpentUsage } from './spent-usage.ts'

export interface AnswerInput {
  endpoint: Endpoint
  wanted: Wanted
}

export interface ReadAnswer {
  bytes: Uint8Array
  /** Null when the bytes are no JSON object; the other fields then mean nothing. */
  completeness: Completeness | null
  callsTools: boolean
  /** As reported; null when it was not. */
  usage: TokenUsage | null
  /** Null for an error in its place. */
  id: unknown
  /** The model that it names. */
  model: unknown
  /** The model's text, when its tokens have to be counted. */
  text: string
}

const JOBS = new URL('./jobs.ts', import.meta.url)
const READ = new Job<AnswerInput & { parts: readonly Uint8Array[] }, ReadAnswer>(JOBS, 'readAnswer')

/** Reads and assesses a whole plain response, a long one in a worker. Throws a 502 when it is not a JSON object. */
export async function readAnswer(
  body: ReadableStream<Uint8Array>,
  provider: string,
  { owner, ...asked }: AnswerInput & { owner: number },
): Promise<ReadAnswer & { completeness: NonNullable<ReadAnswer['completeness']> }> {
  const bytes = await readBytes(body, provider, MAX_PLAIN_BYTES)
  const read = 'whole' in bytes ? assessAnswer(bytes.whole, asked) : await assessAside(bytes.gathered, asked, owner)
  const { completeness } = read
  if (completeness === null) throw broken(provider, 'gave an answer that is not a JSON object')
  return { ...read, completeness }
}

function assessAside(gathered: GatheredBytes, asked: AnswerInput, owner: number): Promise<ReadAnswer> {
  return offLoop.run(READ, { parts: gathered.parts, ...asked }, { owner, transfer: gathered.buffers })
}

export function assessAnswer(bytes: Uint8Array, { endpoint, wanted }: AnswerInput): ReadAnswer {
  const answer = parseJsonObject(new TextDecoder().decode(bytes))
  if (!answer) return { bytes, completeness: null, callsTools: false, usage: null, id: null, model: null, text: '' }
  const format = formatOf(endpoint)
  const usage = format.readUsage(answer.usage, answer)
  return {
    bytes,
    // Entries are stored as text, so they must be valid UTF-8.
    completeness: isUtf8(bytes) ? format.completenessOf(answer, wanted) : 'not_an_answer',
    callsTools: format.callsTools(answer),
    usage,
    id: answer.id ?? null,
    model: answer.model,
    text: usage ? '' : format.textOf(answer),
  }
}

/** What an answer used, as far as it says so itself. */
export interface ReportedUsage extends Pick<ReadAnswer, 'usage' | 'id' | 'model' | 'text'> {
  /** Whether it ended with a failure. */
  hasFailed: boolean
  /** For a stream that ended early: what came of it. */
  cut?: CutAnswer
}

/**
 * The usage that the provider reported. Without one, the tokenizer counts it where all that is charged was sent, or where it has no price;
 * else it is presumed. An error in place of an answer costs no more than what was read.
 */
export async function usageOf(
  call: AskedCall,
  { usage, id, hasFailed, cut, model, text, owner }: ReportedUsage & { owner: number },
): Promise<SpentUsage> {
  const answeredAs = typeof model === 'string' ? { answeredAs: model } : {}
  if (usage && !cut) return { ...usage, ...answeredAs }
  const most = cut ? presumeSent(call, cut) : presumeMost(call)
  const isPriced = most.isPresumed === true && most.isUnpriced !== true
  if (isPriced && (id !== null || !hasFailed) && (cut || !isSentAsWritten(call))) return { ...most, ...answeredAs }
  const { endpoint, body: request } = call
  const counting = countAside({ endpoint: endpoint as Endpoint, request, text }, owner)
  // A worker that died of its job must not keep the request open.
  const { promptTokens, textTokens } = await counting.catch(() => ({
    promptTokens: estimatePromptTokens(request, endpoint),
    textTokens: estimateTextTokens(text),
  }))
  const isUnpriced = most.isUnpriced === true
  return { ...NO_USAGE, promptTokens, completionTokens: textTokens, isUnpriced, ...answeredAs }
}
