/** What the pipeline needs to know about a provider's response: whether it may be stored, what it used, and whether it is a failure. */
import { isUtf8 } from 'node:buffer'
import type { ProxyErrorOptions } from '../errors/errors.ts'
import type { ByteCollector } from '../event-loop/byte-collector.ts'
import type { MemoryReservation } from '../event-loop/stream-memory.ts'
import { WorkerJob, workerPool } from '../event-loop/worker-pool.ts'
import type { ApiFormat, AssembledStream } from '../formats/api-format.ts'
import { type Completeness, isUpstreamFailure } from '../formats/chat/completeness.ts'
import { apiFormatOf, type FormattedEndpoint } from '../formats/endpoint-formats.ts'
import type { ExpectedOutput } from '../formats/expected-output.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import { type PlainResponseBody, readPlainResponseBody } from '../formats/read-plain-response-body.ts'
import { toResponseError } from '../formats/response-failure.ts'
import { markZeroCountsMissing, type TokenUsage } from '../formats/token-usage.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readBytes } from './read-bytes.ts'

/** An error as plain data: a worker may have read it. */
export type ResponseFailure = Required<Pick<ProxyErrorOptions, 'status' | 'code' | 'message' | 'type'>>

export interface ResponseAnalysis {
  completeness: Completeness
  callsTools: boolean
  /** As reported; null when it was not, or cannot be read. */
  usage: TokenUsage | null
  /** Whether anything to show or to run has come. */
  hasOutput: boolean
  /** Whether it may have used something without that: it ended in order, or goes on elsewhere. */
  canHaveUsedTokens: boolean
  /** Whether the model had finished, however: only then is a usage, which some providers report as they go, that of all. */
  isFinished: boolean
  /** Null for an error in its place. */
  id: unknown
  /** The model that it names. */
  model: unknown
  /** The service tier that it names; null where it names none. */
  tier: string | null
  /** The model's text, when its tokens have to be counted. */
  text: string
  /** The provider's failure, if the response is one. */
  failure: ResponseFailure | null
  /** Kinds of parts that the client's format has no place for. */
  omitted: readonly string[]
}

export interface PlainResponseAnalysis extends ResponseAnalysis {
  /** In the client's format. */
  bytes: Uint8Array
}

export interface AnalysisInput {
  endpoint: FormattedEndpoint
  expected: ExpectedOutput
}

const READ = new WorkerJob<AnalysisInput & { parts: readonly Uint8Array[] }, PlainResponseAnalysis>(
  new URL('./jobs.ts', import.meta.url),
  'analyzeResponseJob',
)

/** Reads and judges a whole plain response, a long one in a worker. Throws a 502 when it is too long, or breaks off. */
export async function readPlainResponse(
  body: ReadableStream<Uint8Array>,
  provider: string,
  { owner, held, ...input }: AnalysisInput & { owner: number; held?: MemoryReservation | undefined },
): Promise<PlainResponseAnalysis> {
  const bytes = await readBytes(body, provider, MAX_PLAIN_RESPONSE_BYTES, held)
  return 'whole' in bytes ? analyzePlainResponse(bytes.whole, input) : await judgeAside(bytes.gathered, input, owner)
}

function judgeAside(gathered: ByteCollector, input: AnalysisInput, owner: number): Promise<PlainResponseAnalysis> {
  return workerPool.run(READ, { parts: gathered.parts, ...input }, { owner, transfer: gathered.buffers })
}

export function analyzePlainResponse(bytes: Uint8Array, { endpoint, expected }: AnalysisInput): PlainResponseAnalysis {
  const format = apiFormatOf(endpoint)
  const read = readPlainResponseBody(bytes, () => format.createAssembler(expected))
  const reading = analyzeResponse(format, read, expected)
  // Entries are stored as text, so they must be valid UTF-8.
  const completeness = reading.completeness === 'whole' && !isUtf8(bytes) ? 'not_utf8' : reading.completeness
  const isRewritten = read && (format.normalize?.(read.body) || read.stream)
  return { ...reading, completeness, bytes: isRewritten ? encodeJson(read.body) : bytes }
}

const NOTHING: PlainResponseBody = { body: {}, stream: null }

/** Judges a response in the format that its provider sent. `read` null: its body is neither JSON nor an event stream. */
export function analyzeResponse(
  format: ApiFormat,
  read: PlainResponseBody | null,
  wanted: ExpectedOutput,
): ResponseAnalysis {
  const { body, stream } = read ?? NOTHING
  const completeness = stream?.completeness ?? (read ? format.completenessOf(body, wanted) : 'not_an_answer')
  const usage = stream?.usage ?? body.usage ?? null
  return analyzeAssembled(format, { body, completeness, usage, error: stream?.error ?? null })
}

export function analyzeAssembled(format: ApiFormat, assembled: AssembledStream): ResponseAnalysis {
  const { body, usage: reported, completeness } = assembled
  const usage = format.readUsage(reported, body)
  const hasEnded = format.isFinished(body)
  return {
    completeness,
    callsTools: format.hasToolCalls(body),
    usage,
    hasOutput: format.hasOutput(body),
    // A model that has ended in order has read its prompt, and may have thought; a response in the background has only begun to.
    canHaveUsedTokens: body.background === true || (hasEnded && !isUpstreamFailure(completeness)),
    isFinished: hasEnded,
    id: body.id ?? null,
    model: body.model,
    tier: typeof body.service_tier === 'string' ? body.service_tier : null,
    text: hasEnded && isWhole(usage) ? '' : format.extractText(body),
    failure: isUpstreamFailure(completeness) ? readFailure(assembled) : null,
    omitted: [],
  }
}

/** Whether nothing in it has to be counted. */
function isWhole(usage: TokenUsage | null): boolean {
  return usage !== null && !markZeroCountsMissing(usage, { hasOutput: true }).missing
}

function readFailure(assembled: AssembledStream): ResponseFailure {
  const { status, code, message, type } = toResponseError(assembled)
  return { status, code, message, type }
}

export function encodeJson(body: JsonObject): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(body))
}
