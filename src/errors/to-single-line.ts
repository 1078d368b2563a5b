/** Text that others wrote, made fit for a message: one line, of a length that we choose. */

/** One line of well-formed text: control characters and the invisible ones that turn its direction become spaces. */
export function toSingleLine(text: string, maxLength: number): string {
  const line = text.slice(0, maxLength + 1).replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, ' ')
  return (line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line).toWellFormed()
}
