/** Describes an error in one line: for the log, and for operators at a terminal. */

/** Returns the names and codes of an error and its causes. It omits messages, because they may quote a prompt. */
export function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) return typeof cause
  const code = 'code' in cause && typeof cause.code === 'string' ? ` ${cause.code}` : ''
  return `${cause.name}${code}${cause.cause === undefined ? '' : `: ${describeCause(cause.cause)}`}`
}

/**
 * Returns the message of an error of the system or a driver; such messages contain no request data. Returns the error's code or name if the
 * message is empty, as that of an AggregateError.
 */
export function errorMessageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
