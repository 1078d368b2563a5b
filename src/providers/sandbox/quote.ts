/** Quotes a client's own text in a response: short, and cut between characters. */

const LONGEST_QUOTE_CHARS = 160

export function quote(text: string): string {
  const characters = [...text.slice(0, 2 * LONGEST_QUOTE_CHARS)]
  const isWhole = characters.length <= LONGEST_QUOTE_CHARS && text.length <= 2 * LONGEST_QUOTE_CHARS
  const shown = characters.slice(0, LONGEST_QUOTE_CHARS).join('').toWellFormed()
  return `“${shown}${isWhole ? '' : '…'}”`
}
