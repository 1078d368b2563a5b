/** Maps error categories, and Anthropic's error types, to the statuses and codes that clients recognize, and writes errors in OpenAI's envelope. */
import type { ErrorType } from '@anthropic-ai/sdk/resources/shared'
import { createError, createUpstreamError, type ProxyError } from '../../errors/errors.ts'
import type { AssembledStream } from '../api-format.ts'
import type { Completeness } from '../chat/completeness.ts'
import { firstChoiceOf } from '../chat/part-reader.ts'
import { asString, isJsonObject, isPresent, type JsonObject, parseJson } from '../json/canonical.ts'
import { CONTEXT_LENGTH_EXCEEDED } from './context-length-error.ts'
import type { ErrorCategory } from './error-category.ts'
import { type ProviderError, readProviderError } from './provider-error.ts'

/** The statuses of a category. The provider's status is used if it is one of them, else the first. */
interface Statuses {
  openai: readonly [number, ...number[]]
  anthropic: readonly [number, ...number[]]
}

const STATUSES_AND_CODES: Record<ErrorCategory, Statuses & { code: string }> = {
  fullContext: { code: CONTEXT_LENGTH_EXCEEDED, openai: [400], anthropic: [400] },
  moderated: { code: 'content_policy_violation', openai: [400, 403, 422, 451], anthropic: [400] },
  quotaExhausted: { code: 'insufficient_quota', openai: [429, 402], anthropic: [402] },
  rateLimited: { code: 'rate_limit_exceeded', openai: [429], anthropic: [429] },
  unknownModel: { code: 'model_not_found', openai: [404], anthropic: [404] },
  overloaded: { code: 'overloaded', openai: [503, 529], anthropic: [529, 503] },
  invalidKey: { code: 'invalid_api_key', openai: [401, 400, 403], anthropic: [401, 400, 403] },
}

/** Returns the provider's status if it fits the category, else the category's. Null for an error within a response that implies no status. */
export function chooseStatus({ category, status, type }: ProviderError, vendor: keyof Statuses): number | null {
  if (category === null) return status ?? findErrorTypeMapping(type)?.status ?? null
  const known = STATUSES_AND_CODES[category][vendor]
  return status !== null && known.includes(status) ? status : known[0]
}

/** Returns OpenAI's code for the category, or the provider's code if that already expresses a category. */
function chooseCode({ category, code, type, hasCategorizedCode }: ProviderError): string | null {
  if (category === 'fullContext' || (category !== null && !hasCategorizedCode)) return STATUSES_AND_CODES[category].code
  return code ?? findErrorTypeMapping(type)?.code ?? null
}

/** Converts the error of an event, or of a body that is an error instead of a response. */
export function toProxyError(body: unknown): ProxyError {
  const error = readProviderError(body, null)
  return createUpstreamError({
    status: chooseStatus(error, 'anthropic') ?? 502,
    code: chooseCode(error) ?? 'upstream_error',
    message: error.message,
    ...(error.type !== null && { type: error.type }),
  })
}

/** An error in the form in which the client gets it. */
export interface ClientError {
  status: number
  body: JsonObject
}

/** Writes the error in OpenAI's envelope. Other fields of the provider's body stay in it. */
export function writeOpenAiError(error: ProviderError, text = ''): ClientError {
  const status = chooseStatus(error, 'openai') ?? 502
  const given = parseJson(text)
  const body = isJsonObject(given) ? given : {}
  const code = chooseCode(error)
  const type = error.category === 'fullContext' ? 'invalid_request_error' : error.type
  const written = createUpstreamError({
    ...{ status, code: code ?? '', message: error.message },
    ...(type !== null && { type }),
    ...(error.param !== null && { param: error.param }),
  }).toBody().error
  const openAiError = isJsonObject(body.error) ? body.error : {}
  return { status, body: { ...body, error: { ...openAiError, ...written, code } } }
}

/**
 * Normalizes the error for an untranslated request whose prompt exceeds the context length, if it lacks the code on which clients act.
 * Returns null for any other error, which stays unchanged.
 */
export function normalizeOpenAiContextLengthError(text: string, status: number): ClientError | null {
  const error = readProviderError(text, status)
  if (error.category !== 'fullContext') return null
  const body = parseJson(text)
  const openAiError = isJsonObject(body) && isJsonObject(body.error) ? body.error : {}
  const isComplete =
    status === 400 && openAiError.code === CONTEXT_LENGTH_EXCEEDED && asString(openAiError.message) !== ''
  return isComplete ? null : writeOpenAiError(error, text)
}

interface ErrorTypeMapping {
  /** The status for an error within a stream, which has none. */
  status: number
  /** OpenAI's code. */
  code: string
}

/**
 * Anthropic's error types. Overload has status 529, because OpenAI's clients retry any status from 500 on. Types that are not listed belong to
 * other endpoints.
 */
const ERROR_TYPES = {
  invalid_request_error: { status: 400, code: 'invalid_request_error' },
  authentication_error: { status: 401, code: 'invalid_api_key' },
  billing_error: { status: 402, code: 'insufficient_quota' },
  permission_error: { status: 403, code: 'permission_denied' },
  not_found_error: { status: 404, code: 'model_not_found' },
  conflict_error: { status: 409, code: 'conflict' },
  request_too_large: { status: 413, code: 'request_too_large' },
  rate_limit_error: { status: 429, code: 'rate_limit_exceeded' },
  api_error: { status: 500, code: 'server_error' },
  timeout_error: { status: 504, code: 'upstream_timeout' },
  overloaded_error: { status: 529, code: 'overloaded' },
} satisfies Partial<Record<ErrorType | 'request_too_large', ErrorTypeMapping>>

const MAPPING_BY_TYPE: ReadonlyMap<string, ErrorTypeMapping> = new Map(Object.entries(ERROR_TYPES))

/** Returns undefined for a type that is not Anthropic's. */
function findErrorTypeMapping(type: string | null): ErrorTypeMapping | undefined {
  return type === null ? undefined : MAPPING_BY_TYPE.get(type)
}

/** Error types by status, including statuses that Anthropic does not have. */
const TYPE_BY_STATUS: ReadonlyMap<number, string> = new Map([
  ...Object.entries(ERROR_TYPES).map(([type, { status }]): [number, string] => [status, type]),
  [408, 'timeout_error'],
  [503, 'overloaded_error'],
])

export function errorTypeOfStatus(status: number): string {
  return TYPE_BY_STATUS.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
}

/** Descriptions of the failures, which follow "The provider" in the message. */
const FAULTS: Partial<Record<Completeness, string>> = {
  not_a_response: 'returned no response',
  empty_choice: 'returned an empty response',
  no_output: 'returned an empty response, and counts output tokens',
  malformed_chunk: 'sent a chunk that cannot be read',
  unfinished_choice: 'ended its response before it was complete',
  missing_end: 'ended its response before it was complete',
}

/** A response with status 200 that is a failure. */
type FailedResponse = Pick<AssembledStream, 'body' | 'completeness'> & { error?: unknown }

/** Creates the error for such a response. Uses the error that the provider reported, if any. */
export function toResponseError({ body, completeness, error }: FailedResponse): ProxyError {
  const choice = firstChoiceOf(body)
  const reported = error ?? body.error ?? choice?.error
  if (isPresent(reported)) return toProxyError({ error: reported })
  const fault = FAULTS[completeness] ?? `reported a failure (finish_reason ${quote(choice?.finish_reason)})`
  return createError('responseUnreadable', { fault })
}

/** Returns a finish reason in quotes if it is safe to repeat, else `unknown`. */
function quote(finishReason: unknown): string {
  const reason = asString(finishReason)
  return /^[\w.-]{1,64}$/.test(reason) ? `"${reason}"` : 'unknown'
}
