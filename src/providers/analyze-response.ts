/** Analyzes a provider's response for the pipeline: whether the response may be stored, its token usage, and whether it is a failure. */
import { isUtf8 } from 'node:buffer'
import type { ProxyErrorOptions } from '../errors/errors.ts'
import type { MemoryReservation } from '../event-loop/stream-memory.ts'
import { WorkerJob, workerPool } from '../event-loop/worker-pool.ts'
import type { ApiFormat, AssembledStream } from '../formats/api-format.ts'
import { type Completeness, isUpstreamFailure } from '../formats/chat/completeness.ts'
import { listTurnsWithExtras } from '../formats/chat/tool-turns.ts'
import type { Endpoint } from '../formats/endpoint.ts'
import { apiFormatOf } from '../formats/endpoint-formats.ts'
import { toResponseError } from '../formats/errors/client-error.ts'
import type { ExpectedOutput } from '../formats/expected-output.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import { type PlainResponseBody, readPlainResponseBody } from '../formats/read-plain-response-body.ts'
import { markZeroCountsMissing, type TokenUsage } from '../formats/token-usage.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readBytes } from './read-bytes.ts'

/** An error as plain data, so that a worker can return it. */
export type ResponseFailure = Required<Pick<ProxyErrorOptions, 'status' | 'code' | 'message' | 'type'>>

export interface ResponseAnalysis {
  completeness: Completeness
  callsTools: boolean
  /** The usage that the provider reported; null when it reported none, or none that can be read. */
  usage: TokenUsage | null
  /** Whether the response contains text to show or a tool call to run. */
  hasOutput: boolean
  /** Whether a response without output may have used tokens: it finished normally, or it continues in the background. */
  canHaveUsedTokens: boolean
  /** Whether the model finished, normally or not. Only then is `usage` complete: some providers report usage while they generate. */
  isFinished: boolean
  /** The id of the response; null when an error is in its place. */
  id: unknown
  /** The model that the response names. */
  model: unknown
  /** The service tier that the response names; null when it names none. */
  tier: string | null
  /** The model's text; empty when the reported usage is complete, so that no tokens have to be counted. */
  text: string
  /** The provider's failure; null when the response is none. */
  failure: ResponseFailure | null
  /** Kinds of parts that were omitted because the client's format cannot represent them. */
  omitted: readonly string[]
  /** The messages of a chat response that have both tool calls and provider extras. */
  turns: readonly JsonObject[]
}

export interface PlainResponseAnalysis extends ResponseAnalysis {
  /** The body in the client's format. */
  bytes: Uint8Array
}

export interface AnalysisInput {
  endpoint: Endpoint
  expected: ExpectedOutput
}

const ANALYZE_RESPONSE = new WorkerJob<AnalysisInput & { parts: readonly Uint8Array[] }, PlainResponseAnalysis>(
  new URL('./jobs.ts', import.meta.url),
  'analyzeResponseJob',
)

/** Reads a plain response to its end and analyzes it, a long one in a worker. Throws a 502 when it is too long or breaks off. */
export async function readPlainResponse(
  body: ReadableStream<Uint8Array>,
  provider: string,
  { owner, held, ...input }: AnalysisInput & { owner: number; held?: MemoryReservation | undefined },
): Promise<PlainResponseAnalysis> {
  const bytes = await readBytes(body, provider, MAX_PLAIN_RESPONSE_BYTES, held)
  if ('whole' in bytes) return analyzePlainResponse(bytes.whole, input)
  const { parts, buffers } = bytes.gathered
  return await workerPool.run(ANALYZE_RESPONSE, { parts, ...input }, { owner, transfer: buffers })
}

export function analyzePlainResponse(bytes: Uint8Array, { endpoint, expected }: AnalysisInput): PlainResponseAnalysis {
  const format = apiFormatOf(endpoint)
  const read = readPlainResponseBody(bytes, () => format.createAssembler(expected))
  const analysis = analyzeResponse(format, read, expected)
  // Entries are stored as text, so they must be valid UTF-8.
  const completeness = analysis.completeness === 'whole' && !isUtf8(bytes) ? 'invalid_utf8' : analysis.completeness
  const isRewritten = read && (format.normalize?.(read.body) || read.stream)
  return { ...analysis, completeness, bytes: isRewritten ? encodeJson(read.body) : bytes }
}

const EMPTY_BODY: PlainResponseBody = { body: {}, stream: null }

/** Analyzes a response in the format that its provider sent. `read` is null when the body is neither JSON nor an event stream. */
export function analyzeResponse(
  format: ApiFormat,
  read: PlainResponseBody | null,
  expected: ExpectedOutput,
): ResponseAnalysis {
  const { body, stream } = read ?? EMPTY_BODY
  const completeness = stream?.completeness ?? (read ? format.completenessOf(body, expected) : 'not_a_response')
  const usage = stream?.usage ?? body.usage ?? null
  return analyzeAssembled(format, { body, completeness, usage, error: stream?.error ?? null })
}

export function analyzeAssembled(format: ApiFormat, assembled: AssembledStream): ResponseAnalysis {
  const { body, usage: reported, completeness } = assembled
  const usage = format.readUsage(reported, body)
  const isFinished = format.isFinished(body)
  return {
    completeness,
    callsTools: format.hasToolCalls(body),
    usage,
    hasOutput: format.hasOutput(body),
    // A model that finished normally has read its prompt and may have reasoned. A background response continues after this one.
    canHaveUsedTokens: body.background === true || (isFinished && !isUpstreamFailure(completeness)),
    isFinished,
    id: body.id ?? null,
    model: body.model,
    tier: typeof body.service_tier === 'string' ? body.service_tier : null,
    text: isFinished && isUsageComplete(usage) ? '' : format.extractText(body),
    failure: isUpstreamFailure(completeness) ? readFailure(assembled) : null,
    omitted: [],
    turns: listTurnsWithExtras(body),
  }
}

/** Returns whether the provider reported every count, so that no tokens have to be counted. */
function isUsageComplete(usage: TokenUsage | null): boolean {
  return usage !== null && !markZeroCountsMissing(usage, { hasOutput: true }).missing
}

function readFailure(assembled: AssembledStream): ResponseFailure {
  const { status, code, message, type } = toResponseError(assembled)
  return { status, code, message, type }
}

export function encodeJson(body: JsonObject): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(body))
}
