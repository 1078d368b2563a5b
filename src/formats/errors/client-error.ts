/** The status and the code by which clients recognise each meaning, and a provider's error in OpenAI's envelope. */
import { createUpstreamError, type ProxyError } from '../../errors/errors.ts'
import { asString, isJsonObject, type JsonObject, parseJson } from '../json/canonical.ts'
import { findErrorTypeMapping } from '../messages/error-types.ts'
import { CONTEXT_LENGTH_EXCEEDED } from './context-length-error.ts'
import type { ErrorCategory } from './error-category.ts'
import { type ProviderError, readProviderError } from './provider-error.ts'

/** The first is written; a provider's own status stays where it is another of them. */
interface Statuses {
  openai: readonly [number, ...number[]]
  anthropic: readonly [number, ...number[]]
}

const TRAITS: Record<ErrorCategory, Statuses & { code: string }> = {
  fullContext: { code: CONTEXT_LENGTH_EXCEEDED, openai: [400], anthropic: [400] },
  moderated: { code: 'content_policy_violation', openai: [400, 403, 422, 451], anthropic: [400] },
  quotaExhausted: { code: 'insufficient_quota', openai: [429, 402], anthropic: [402] },
  rateLimited: { code: 'rate_limit_exceeded', openai: [429], anthropic: [429] },
  unknownModel: { code: 'model_not_found', openai: [404], anthropic: [404] },
  overloaded: { code: 'overloaded', openai: [503, 529], anthropic: [529, 503] },
  invalidKey: { code: 'invalid_api_key', openai: [401, 400, 403], anthropic: [401, 400, 403] },
}

/** The provider's status where it fits the meaning. Null for an error inside a response that says nothing of it. */
export function chooseStatus({ category, status, type }: ProviderError, vendor: keyof Statuses): number | null {
  if (category === null) return status ?? findErrorTypeMapping(type)?.status ?? null
  const known = TRAITS[category][vendor]
  return status !== null && known.includes(status) ? status : known[0]
}

/** OpenAI's code; the provider's own where that expresses a meaning. */
function chooseCode({ category, code, type, hasCategorizedCode }: ProviderError): string | null {
  if (category === 'fullContext' || (category !== null && !hasCategorizedCode)) return TRAITS[category].code
  return code ?? findErrorTypeMapping(type)?.code ?? null
}

/** The error of an event, or of a body that stands in place of a response. */
export function toProxyError(body: unknown): ProxyError {
  const error = readProviderError(body, null)
  return createUpstreamError({
    status: chooseStatus(error, 'anthropic') ?? 502,
    code: chooseCode(error) ?? 'upstream_error',
    message: error.message,
    ...(error.type !== null && { type: error.type }),
  })
}

/** An error as a client gets it. */
export interface ClientError {
  status: number
  body: JsonObject
}

/** The error in OpenAI's envelope, beside whatever else the body had. */
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
  const own = isJsonObject(body.error) ? body.error : {}
  return { status, body: { ...body, error: { ...own, ...written, code } } }
}

/**
 * The error of a provider that was sent the client's own request, where it says that the context is full without the code that clients act on.
 * Null for any other: it stays as it is.
 */
export function normalizeOpenAiContextError(text: string, status: number): ClientError | null {
  const error = readProviderError(text, status)
  if (error.category !== 'fullContext') return null
  const body = parseJson(text)
  const own = isJsonObject(body) && isJsonObject(body.error) ? body.error : {}
  const isComplete = status === 400 && own.code === CONTEXT_LENGTH_EXCEEDED && asString(own.message) !== ''
  return isComplete ? null : writeOpenAiError(error, text)
}
