/** Describes an error in one line: for the log, and for operators at a terminal. */

/** Returns an error's name and code only: its message may quote a prompt. */
export function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) return typeof cause
  const code = 'code' in cause && typeof cause.code === 'string' ? ` ${cause.code}` : ''
  return `${cause.name}${code}${cause.cause === undefined ? '' : `: ${describeCause(cause.cause)}`}`
}

/**
 * For an error of the system or a driver, which quotes no request. One of several attempts, as for a name with two addresses, has a code
 * and no message.
 */
export function errorMessageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
