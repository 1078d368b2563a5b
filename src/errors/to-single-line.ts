/** Turns text from outside into one line of limited length, fit for a message. */

/** Returns well-formed text of at most `maxLength` characters. Control characters and invisible direction marks become spaces. */
export function toSingleLine(text: string, maxLength: number): string {
  const line = text.slice(0, maxLength + 1).replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, ' ')
  return (line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line).toWellFormed()
}
