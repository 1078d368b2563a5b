/** What an error of the system or a driver says, in one line. */

/** An error of several attempts, as for a name with two addresses, has a code and no message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
