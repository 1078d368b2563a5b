/** Which HTTP error a SQL function's refusal is: the functions raise, in one line for people, and this table says what kind it was. */
import { ProxyError } from '../errors.ts'
import { sqlStateOf } from '../postgres/database.ts'

/** SQLSTATE → status and code. Messages of these are the functions' own, and safe to show. */
const REFUSALS: Record<string, { status: number; code: string }> = {
  // no_data_found
  P0002: { status: 404, code: 'not_found' },
  // insufficient_privilege
  '42501': { status: 403, code: 'permission_denied' },
  // invalid_parameter_value
  '22023': { status: 400, code: 'invalid_request_error' },
  // unique_violation. Not 409, which OpenAI's clients take for an invitation to try again.
  '23505': { status: 400, code: 'already_exists' },
  // object_not_in_prerequisite_state
  '55000': { status: 400, code: 'not_possible' },
}

/** Classes of states that pass by themselves: connections, resources, a turn that did not come. */
const PASSING = /^(08|53|57|55P)/

/** Null where the error is nothing that the client should hear of. */
export function refusalOf(error: unknown): ProxyError | null {
  const state = sqlStateOf(error)
  if (state === null || !(error instanceof Error)) return null
  const refusal = REFUSALS[state]
  if (refusal) return new ProxyError({ ...refusal, message: sentence(error.message) })
  if (!PASSING.test(state)) return null
  return new ProxyError({
    status: 503,
    code: 'service_unavailable',
    message: 'The database does not answer; try again shortly.',
    headers: { 'retry-after': '1' },
    cause: error,
  })
}

function sentence(message: string): string {
  // An id stays as it is written.
  const begun = /^[a-z]+_/.test(message) ? message : message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?`]$/.test(begun) ? begun : `${begun}.`
}
