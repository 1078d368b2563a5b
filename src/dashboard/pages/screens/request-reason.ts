/** Explains in plain words why a request ended as it did. */
import { describeReason } from '../../../cache/reasons.ts'
import { isolateDirection } from '../format.ts'
import type { RequestLogEntry } from '../types.ts'

/** Why the proxy rejected a request, by the code of the error. Other codes are explained by their message. */
const REJECTIONS: Readonly<Record<string, string>> = {
  address_not_allowed: 'The key may not be used from this address',
  api_key_disabled: 'The key is deactivated',
  budget_reserved: 'Requests in flight have reserved the rest of the budget',
  concurrent_requests_exceeded: 'Too many requests of the key at the same time',
  insufficient_quota: 'Over budget',
  invalid_api_key: 'The key is not valid',
  max_tokens_per_request: 'More tokens than the key may use in one request',
  model_not_allowed: 'The key may not use this model',
  model_not_priced: 'A budget applies, and the price of the model is not known',
  monthly_quota_exceeded: 'Monthly quota reached',
  rate_limit_exceeded: 'Rate limited',
}

/** Returns one line for a list. */
export function summarizeReason(request: RequestLogEntry): string {
  const { status, cache_result: result, cache_reason: reason, asked_model, fallbacks } = request
  if (status === 499) return 'The client disconnected'
  if (status >= 400) return explainFailure(request)
  const fallback =
    fallbacks !== null && asked_model !== null ? `${isolateDirection(asked_model)} failed; fallback used. ` : ''
  if (reason !== null) return `${fallback}${describeReason(reason)}`
  if (result === 'MISS') return `${fallback}No cached response matched.`
  return result === null ? `${fallback}The response is not cacheable.` : ''
}

function explainFailure({
  attempts,
  error_code,
  error_message,
  upstream_status,
  upstream_message,
  ...request
}: RequestLogEntry): string {
  const code = error_code ?? ''
  const own = error_message ?? code.replaceAll('_', ' ')
  if (attempts === null && Object.hasOwn(REJECTIONS, code)) return REJECTIONS[code] ?? own
  if (attempts === null) return own || `Rejected with ${request.status}`

  const provider = request.provider ?? 'The provider'
  if (upstream_status !== null)
    return `${provider} responded with ${upstream_status}${upstream_message === null ? '' : `: ${upstream_message}`}`
  return own || `${provider} failed`
}

/** Returns sentences for the page of a request. */
export function explainRequest(request: RequestLogEntry): string {
  const { provider, status, cache_result: result, cache_reason: reason, asked_model, attempts } = request

  if (status === 499) return 'The client disconnected before the response was complete.'
  if (status >= 400 && attempts === null) return `Rejected with ${status} before any provider was called.`
  if (status >= 400) return `Failed with ${status}. Nothing was cached.`
  const createdBy = provider === null ? '' : ` The response was created by ${provider}.`

  if (result === 'HIT') return `Served from the cache.${createdBy}`
  if (result === 'HIT-SEMANTIC')
    return `Served from the cache, because it was created for a question with the same meaning.${createdBy}`
  const cause = reason === null ? 'No cached response matched.' : describeReason(reason)
  const models = [asked_model ?? '', request.model].map(isolateDirection)
  const hasFallback = asked_model !== null && request.fallbacks !== null
  const fallback = hasFallback ? ` ${models[0]} failed, and the fallback ${models[1]} responded.` : ''
  const forwarded = provider === null ? '' : ` Forwarded to ${provider}.`
  return `${cause}${forwarded}${request.streamed ? ' Streamed to the client.' : ''}${fallback}`
}
