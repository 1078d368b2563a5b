/** Writes errors in Google's form. */

import type { ProxyError } from '../../errors/errors.ts'
import { type ClientError, chooseStatus } from '../errors/client-error.ts'
import type { ProviderError } from '../errors/provider-error.ts'
import type { JsonObject } from '../json/canonical.ts'

/** Google's canonical codes by status. */
const CANONICAL_CODES: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [402, 'RESOURCE_EXHAUSTED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [405, 'UNIMPLEMENTED'],
  [408, 'DEADLINE_EXCEEDED'],
  [409, 'ABORTED'],
  [429, 'RESOURCE_EXHAUSTED'],
  [499, 'CANCELLED'],
  [501, 'UNIMPLEMENTED'],
  [502, 'UNAVAILABLE'],
  [503, 'UNAVAILABLE'],
  [504, 'DEADLINE_EXCEEDED'],
  [529, 'UNAVAILABLE'],
])

function canonicalCodeOf(status: number): string {
  return CANONICAL_CODES.get(status) ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
}

const DETAIL_TYPE = 'type.googleapis.com/google.rpc.'

type GoogleErrorInput = Pick<ProxyError, 'status' | 'message'> & Partial<Pick<ProxyError, 'code' | 'param' | 'headers'>>

/** Writes an error. Its details have the proxy's code, the field at fault, and the seconds to wait. */
export function writeGoogleError({ status, message, code, param, headers }: GoogleErrorInput): { error: JsonObject } {
  const seconds = headers?.['Retry-After'] ?? headers?.['retry-after']
  const details: JsonObject[] = [
    ...(code ? [{ '@type': `${DETAIL_TYPE}ErrorInfo`, reason: code.toUpperCase(), domain: 'model-proxy' }] : []),
    ...(param
      ? [{ '@type': `${DETAIL_TYPE}BadRequest`, fieldViolations: [{ field: param, description: message }] }]
      : []),
    ...(seconds === undefined ? [] : [{ '@type': `${DETAIL_TYPE}RetryInfo`, retryDelay: `${seconds}s` }]),
  ]
  return {
    error: { code: status, message, status: canonicalCodeOf(status), ...(details.length > 0 && { details }) },
  }
}

/** Writes a provider's error with the status that fits its category. */
export function writeGoogleProviderError(error: ProviderError): ClientError {
  const status = chooseStatus(error, 'openai') ?? 502
  const code = error.code ?? error.category
  return {
    status,
    body: writeGoogleError({ status, message: error.message, param: error.param, ...(code && { code }) }),
  }
}
