/** Describes an error in one line: for the log, and for operators at a terminal. */

/** Returns the names and codes of an error and its causes. It omits messages, because they may quote a prompt. */
export function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) return typeof cause
  const code = 'code' in cause && typeof cause.code === 'string' ? ` ${cause.code}` : ''
  return `${cause.name}${code}${cause.cause === undefined ? '' : `: ${describeCause(cause.cause)}`}`
}

/**
 * Returns the message of an error of the system or a driver, which quotes no request. Returns its code or name when the message is empty, as
 * for an error that joins several connection attempts.
 */
export function errorMessageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
