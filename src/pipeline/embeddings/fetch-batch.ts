/** Asks a provider for one batch of vectors, and shares what it counted among the inputs. */

import { NO_USAGE, readUsage, type TokenUsage } from '../../catalogue/cost.ts'
import { broken } from '../../providers/call-upstream.ts'
import type { ProxyResponse } from '../exchange.ts'
import { readAll } from '../plain-answer.ts'
import { missHeaders } from '../proxy-headers.ts'
import type { FetchOrder, NamedInput } from './fetch-embeddings.ts'
import type { FetchedVector } from './in-flight.ts'
import { type EmbeddingsAnswer, readEmbeddingsAnswer } from './read-answer.ts'
import { shareTokens } from './share-tokens.ts'

export interface BatchOrder extends Omit<FetchOrder, 'unknown' | 'isWholeRequest' | 'keep'> {
  inputs: readonly NamedInput[]
  /** They are the request's own, each and in order. */
  isVerbatim: boolean
  signal: AbortSignal
}

export interface FetchedBatch {
  /** By name. */
  vectors: ReadonlyMap<string, FetchedVector>
  usage: TokenUsage
  /** Upstream's, fit to be passed on. */
  headers: Record<string, string>
  answer: EmbeddingsAnswer
  /** The answer as it came, to the request as it came where `isVerbatim`. */
  bytes: Uint8Array
  isVerbatim: boolean
}

/** Numbers of up to 8,192 dimensions in up to 24 characters; more is not held in memory. */
const MOST_BYTES_AN_INPUT = 196_608
const MOST_BYTES_BESIDE = 1_048_576

/** Upstream's own error is returned, fit to be passed on. Throws a ProxyError where it could not be reached or is not understood. */
export async function fetchBatch(order: BatchOrder): Promise<FetchedBatch | { refusal: ProxyResponse }> {
  const { parsed, provider, request, inputs, breathe, signal } = order
  const { endpoint, headers: sentHeaders } = request
  // Counted while upstream answers.
  const counting = inputs.length > 1 ? countEach(order) : null
  const upstream = await provider.ask({ ...writeBody(order), endpoint, headers: sentHeaders, stream: false, signal })
  const bytes = await readAll(upstream.body, provider.name, MOST_BYTES_BESIDE + inputs.length * MOST_BYTES_AN_INPUT)
  const headers = Object.fromEntries(upstream.headers)
  if (upstream.status !== 200) {
    const refusal = { status: upstream.status, headers: { ...headers, ...missHeaders(provider.name, 0) }, body: bytes }
    return { refusal }
  }
  await breathe()
  const answer = await readEmbeddingsAnswer(new TextDecoder().decode(bytes), inputs.length, breathe)
  if (!answer) throw broken(provider.name, 'gave an answer that does not hold one vector for each input')

  const usage = readUsage(answer.usage) ?? NO_USAGE
  const isCounted = usage.promptTokens > 0
  const counts = counting ? await counting : isCounted ? [usage.promptTokens] : await countEach(order)
  const promptTokens = isCounted ? usage.promptTokens : counts.reduce((sum, count) => sum + count, 0)
  const shares = shareTokens(promptTokens, counts)
  const answeredAs = answer.model ?? parsed.model
  const vectors = new Map<string, FetchedVector>()
  for (const [at, { name }] of inputs.entries()) {
    const packed = answer.packed[at]
    if (packed) vectors.set(name, { packed, promptTokens: shares[at] ?? 0, answeredAs })
  }
  return { vectors, usage: { ...usage, promptTokens }, headers, answer, bytes, isVerbatim: order.isVerbatim }
}

/** As the client sent it where it can be: down to the last digit. */
function writeBody({ parsed, inputs, isVerbatim }: BatchOrder): { body: Record<string, unknown>; bodyText: string } {
  if (isVerbatim) return { body: parsed.body, bodyText: parsed.text }
  const body = { ...parsed.body, input: inputs.map(({ input }) => input) }
  return { body, bodyText: JSON.stringify(body) }
}

async function countEach({ inputs, counter }: BatchOrder): Promise<number[]> {
  const counts: number[] = []
  for (const { input } of inputs) counts.push(await counter.count(input))
  return counts
}
