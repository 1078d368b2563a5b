/** Asks a provider for one batch of vectors, and divides the reported tokens among the inputs. */
import { NO_USAGE, readUsage, type TokenUsage } from '../../catalogue/cost.ts'
import type { ErrorResponse } from '../../coalescing/shared-call.ts'
import { Job, offLoop } from '../../event-loop/off-loop.ts'
import { broken } from '../../providers/call-upstream.ts'
import { type AnswerBytes, readBytes } from '../../providers/read-bytes.ts'
import type { CompletionQuery } from '../query.ts'
import { readAll } from '../read-answer.ts'
import type { RoutedContext } from '../request-context.ts'
import { missHeaders } from '../response-headers.ts'
import type { EmbeddingsJob, NamedInput } from './embeddings-job.ts'
import { type EmbeddingsAnswer, readEmbeddingsAnswer } from './read-answer.ts'
import { shareTokens } from './share-tokens.ts'
import type { FetchedVector } from './vector-calls.ts'

export interface Batch {
  inputs: readonly NamedInput[]
  /** True when the batch is all of the request's inputs, in order: the body can be forwarded as it came. */
  isVerbatim: boolean
}

export interface FetchedBatch {
  /** By the input's name. */
  vectors: ReadonlyMap<string, FetchedVector>
  usage: TokenUsage
  /** The upstream's headers, ready to be passed on. */
  headers: Record<string, string>
  answer: EmbeddingsAnswer
  /** The response as it came. It answers the whole request when `isVerbatim`. */
  bytes: Uint8Array
  isVerbatim: boolean
}

export interface EmbeddingsToRead {
  parts: readonly Uint8Array[]
  inputs: number
}

export interface ReadEmbeddings {
  bytes: Uint8Array
  answer: EmbeddingsAnswer | null
}

const READ = new Job<EmbeddingsToRead, ReadEmbeddings>(new URL('./read-vectors-job.ts', import.meta.url))

/** Numbers of up to 8,192 dimensions in up to 24 characters; more is not held in memory. */
const MOST_BYTES_AN_INPUT = 196_608
const MOST_BYTES_BESIDE = 1_048_576

/** Returns the upstream's own error, ready to be passed on. Throws a ProxyError when the upstream cannot be reached or understood. */
export async function fetchBatch(
  { context, counter }: EmbeddingsJob,
  { inputs, isVerbatim }: Batch,
  signal: AbortSignal,
): Promise<FetchedBatch | { refusal: ErrorResponse }> {
  const { request, query, provider, accounting } = context
  const countEach = () => counter.count(inputs.map(({ input }) => input))
  accounting.noteAsked()
  // Tokens are counted while the upstream answers.
  const counting = inputs.length > 1 ? countEach() : null
  // The rejection is handled where the count is awaited; this only prevents an unhandled one.
  counting?.catch(() => {})
  const sent = { endpoint: query.endpoint, headers: request.headers, stream: false, signal }
  const upstream = await provider.ask({ ...sent, ...writeBody(context, { inputs, isVerbatim }) })
  accounting.noteAnswered(upstream.headers)
  const mostBytes = MOST_BYTES_BESIDE + inputs.length * MOST_BYTES_AN_INPUT
  const headers = Object.fromEntries(upstream.headers)
  if (upstream.status !== 200) {
    const bytes = await readAll(upstream.body, provider.name, mostBytes)
    return {
      refusal: { status: upstream.status, headers: { ...headers, ...missHeaders(provider.name, 0) }, body: bytes },
    }
  }
  const { bytes, answer } = await readLong(await readBytes(upstream.body, provider.name, mostBytes), inputs.length)
  if (!answer) throw broken(provider.name, 'gave an answer that does not hold one vector for each input')

  const usage = readUsage(answer.usage) ?? NO_USAGE
  const isCounted = usage.promptTokens > 0
  const counts = counting ? await counting : isCounted ? [usage.promptTokens] : await countEach()
  const promptTokens = isCounted ? usage.promptTokens : counts.reduce((sum, count) => sum + count, 0)
  const shares = shareTokens(promptTokens, counts)
  const answeredAs = answer.model ?? query.model
  const vectors = new Map<string, FetchedVector>()
  for (const [at, { name }] of inputs.entries()) {
    const packed = answer.packed[at]
    if (packed) vectors.set(name, { packed, promptTokens: shares[at] ?? 0, answeredAs })
  }
  return { vectors, usage: { ...usage, promptTokens }, headers, answer, bytes, isVerbatim }
}

async function readLong(answer: AnswerBytes, inputs: number): Promise<ReadEmbeddings> {
  if ('gathered' in answer) {
    const { parts, buffers } = answer.gathered
    return offLoop.run(READ, { parts, inputs }, { transfer: buffers })
  }
  const bytes = answer.whole
  return { bytes, answer: readEmbeddingsAnswer(new TextDecoder().decode(bytes), inputs) }
}

/** Sends the client's own body where possible: numbers keep their last digit. */
function writeBody({ query }: RoutedContext<CompletionQuery>, { inputs, isVerbatim }: Batch) {
  if (isVerbatim) return { body: query.body, bodyText: query.text }
  const body = { ...query.body, input: inputs.map(({ input }) => input) }
  return { body, bodyText: JSON.stringify(body) }
}
