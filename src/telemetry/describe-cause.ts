/** What a log says of an error. */

/** An error's name and code: its message may quote what it was given. */
export function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) return typeof cause
  const code = 'code' in cause && typeof cause.code === 'string' ? ` ${cause.code}` : ''
  return `${cause.name}${code}${cause.cause === undefined ? '' : `: ${describeCause(cause.cause)}`}`
}
