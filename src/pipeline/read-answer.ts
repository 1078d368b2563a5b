/** What the pipeline needs to know about a plain response once all of it has arrived: whether it may be stored, and what it took. */
import { isUtf8 } from 'node:buffer'
import { checkReportedCost } from '../catalogue/reported-cost.ts'
import type { GatheredBytes } from '../event-loop/gather-bytes.ts'
import { Job, offLoop } from '../event-loop/off-loop.ts'
import type { AnswerFormat } from '../formats/answer-format.ts'
import { type Completeness, isUpstreamFailure } from '../formats/chat/completeness.ts'
import { formatOf } from '../formats/format-of.ts'
import { type JsonObject, parseJsonObject } from '../formats/json/canonical.ts'
import { fillMissing, type MissingCount, markZeros, NO_USAGE, type TokenUsage } from '../formats/token-usage.ts'
import { countAside } from '../formats/tokens/count-aside.ts'
import { estimatePromptTokens } from '../formats/tokens/count-tokens.ts'
import { estimateTextTokens } from '../formats/tokens/estimate-text.ts'
import type { Wanted } from '../formats/wanted.ts'
import { MAX_PLAIN_BYTES, readBytes } from '../providers/read-bytes.ts'
import type { Endpoint } from '../providers/upstream.ts'
import { noResponse } from '../providers/upstream-failure.ts'
import {
  type AskedCall,
  type CutAnswer,
  isPromptOfText,
  isSentAsWritten,
  presumeBeside,
  presumeMost,
  presumeSent,
  presumeUpTo,
  pricedName,
} from './presumed-usage.ts'
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
  /** Whether it holds any part of a response: text, reasoning, a call. */
  hasBegun: boolean
  /** Whether it may have used something without holding any: it ended in order, or goes on elsewhere. */
  mayHaveBegun: boolean
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
  if (completeness === null) throw noResponse(provider, 'gave an answer that is not a JSON object')
  return { ...read, completeness }
}

function assessAside(gathered: GatheredBytes, asked: AnswerInput, owner: number): Promise<ReadAnswer> {
  return offLoop.run(READ, { parts: gathered.parts, ...asked }, { owner, transfer: gathered.buffers })
}

export function assessAnswer(bytes: Uint8Array, { endpoint, wanted }: AnswerInput): ReadAnswer {
  const answer = parseJsonObject(new TextDecoder().decode(bytes))
  if (!answer) return { ...NOTHING, bytes }
  const format = formatOf(endpoint)
  const usage = format.readUsage(answer.usage, answer)
  // Entries are stored as text, so they must be valid UTF-8.
  const completeness = isUtf8(bytes) ? format.completenessOf(answer, wanted) : 'not_an_answer'
  return {
    bytes,
    completeness,
    hasBegun: format.hasBegun(answer),
    mayHaveBegun: mayHaveBegun(format, answer, completeness),
    callsTools: format.callsTools(answer),
    usage,
    id: answer.id ?? null,
    model: answer.model,
    text: isWholeUsage(usage) ? '' : format.textOf(answer),
  }
}

const NOTHING: Omit<ReadAnswer, 'bytes'> = {
  completeness: null,
  callsTools: false,
  hasBegun: false,
  mayHaveBegun: false,
  usage: null,
  id: null,
  model: null,
  text: '',
}

/** A model that has ended in order has read its prompt, and may have thought; a response in the background has only begun to. */
export function mayHaveBegun(format: AnswerFormat, answer: JsonObject, completeness: Completeness): boolean {
  return answer.background === true || (format.hasEnded(answer) && !isUpstreamFailure(completeness))
}

/** Whether nothing in it has to be counted. */
export function isWholeUsage(usage: TokenUsage | null): boolean {
  return usage !== null && !markZeros(usage, { hasOutput: true }).missing
}

/** What a provider reported of a call that has ended, and what came of it. */
export interface CallReport extends Pick<ReadAnswer, 'usage' | 'hasBegun' | 'text' | 'model'> {
  /** Whether it may have produced a response that was not seen: a connection broke, or it ended in order, or goes on elsewhere. */
  mayHaveBegun?: boolean
  /** For a stream that ended early: what came of it. */
  cut?: CutAnswer | undefined
  /** Of the text, beyond what it holds. */
  lostChars?: number
}

/**
 * The usage that the provider reported. What it did not report of a response, the tokenizer counts where all that is charged was sent, or
 * where it has no price; else it is presumed. Where no response began, it has used what it reported, or nothing.
 */
export async function usageOf(
  call: AskedCall,
  { usage, hasBegun, mayHaveBegun = false, cut, model, text, lostChars = 0 }: CallReport,
  owner: number,
): Promise<SpentUsage> {
  const answeredAs = typeof model === 'string' ? { answeredAs: model } : {}
  if (!hasBegun && !mayHaveBegun) return usage ? fillMissing(believed(call, usage, model, false), NO_USAGE) : NO_USAGE
  const told = usage && markZeros(believed(call, usage, model, true), { hasOutput: hasBegun })
  // What was written after that was not counted yet.
  const reported = told && cut ? { ...told, missing: [...(told.missing ?? []), 'completion' as const] } : told
  if (reported && !reported.missing) return { ...reported, ...answeredAs }
  const most = presumeFor(call, reported, cut)
  const isPriced = most.isPresumed === true && most.isUnpriced !== true
  const isCostKnown = reported !== null && reported.reportedCostUsd !== null && !cut
  if (isPriced && !isCostKnown && (cut || !isCountable(call, reported)))
    return { ...(reported ? presumeBeside(call, reported, most) : most), ...answeredAs }
  const counted = await count(call, text, owner)
  // What was given up is taken to have as many tokens as what was kept of it.
  const share = text === '' ? 1 : 1 + lostChars / text.length
  const estimate = { promptTokens: counted.promptTokens, completionTokens: Math.ceil(counted.textTokens * share) }
  return {
    ...fillMissing(reported ?? { ...NO_USAGE, missing: EITHER }, estimate),
    isUnpriced: most.isUnpriced === true && !isCostKnown,
    ...answeredAs,
  }
}

const EITHER: readonly MissingCount[] = ['prompt', 'completion']

function believed(call: AskedCall, usage: TokenUsage, named: unknown, hasBegun: boolean): TokenUsage {
  const { provider, catalogue } = call
  const { model, hasOthers } = pricedName(call)
  const find = (name: string) => (provider.pricedAs === null ? undefined : catalogue.find(provider.pricedAs, name))
  const listed = hasOthers && typeof named === 'string' ? find(named) : find(model)
  return checkReportedCost(usage, provider, listed, { hasBegun })
}

function presumeFor(call: AskedCall, reported: TokenUsage | null, cut: CutAnswer | undefined): SpentUsage {
  if (cut) return presumeSent(call, cut)
  const { missing = EITHER, completionTokens = 0, totalTokens } = reported ?? {}
  const written = missing.includes('completion') ? totalTokens : completionTokens
  return written ? presumeUpTo(call, written) : presumeMost(call)
}

/** Whether the tokenizer counts what is missing: a prompt of text, and output that was sent as it was written. */
function isCountable(call: AskedCall, reported: TokenUsage | null): boolean {
  return isSentAsWritten(call) || (reported?.missing?.includes('completion') === false && isPromptOfText(call))
}

function count({ endpoint, body: request }: AskedCall, text: string, owner: number) {
  const counting = countAside({ endpoint: endpoint as Endpoint, request, text }, owner)
  // A worker that died of its job must not keep the request open.
  return counting.catch(() => ({
    promptTokens: estimatePromptTokens(request, endpoint),
    textTokens: estimateTextTokens(text),
  }))
}
