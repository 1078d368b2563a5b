/** The vendors' error envelopes. */

import type { ErrorScenario, Flavour } from './scenario.ts'

const KINDS: Record<number, { type: string; code: string | null; message: string }> = {
  400: { type: 'invalid_request_error', code: null, message: 'Invalid value in the request.' },
  401: { type: 'invalid_request_error', code: 'invalid_api_key', message: 'Incorrect API key provided.' },
  402: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'Insufficient credits.' },
  404: { type: 'invalid_request_error', code: 'model_not_found', message: 'The model does not exist.' },
  408: { type: 'timeout', code: null, message: 'Request timed out.' },
  429: { type: 'requests', code: 'rate_limit_exceeded', message: 'Rate limit reached for requests.' },
  500: { type: 'server_error', code: null, message: 'The server had an error while processing your request.' },
  503: { type: 'service_unavailable', code: null, message: 'That model is currently overloaded.' },
  529: { type: 'overloaded_error', code: 'overloaded', message: 'Overloaded.' },
}
const OTHER = { type: 'server_error', code: null, message: 'Something went wrong.' }

/** The error code is the status at an aggregator, and a string at the others. */
export function writeError(
  flavour: Flavour,
  scenario: ErrorScenario,
): { headers: Record<string, string>; body: string } {
  const kind = KINDS[scenario.status] ?? OTHER
  const message = scenario.message ?? kind.message
  const error =
    flavour === 'aggregator'
      ? { message, code: scenario.status, metadata: { provider_name: 'FakeProvider' } }
      : { message, type: kind.type, param: null, code: scenario.code ?? kind.code }
  const retry = scenario.retryAfterSeconds === undefined ? {} : { 'retry-after': String(scenario.retryAfterSeconds) }
  return {
    headers: { 'content-type': 'application/json', ...retry, ...scenario.headers },
    body: JSON.stringify({ error }),
  }
}
