/** Describes an error for the log. */

/** Returns an error's name and code only: its message may quote a prompt. */
export function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) return typeof cause
  const code = 'code' in cause && typeof cause.code === 'string' ? ` ${cause.code}` : ''
  return `${cause.name}${code}${cause.cause === undefined ? '' : `: ${describeCause(cause.cause)}`}`
}
