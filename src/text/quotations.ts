/** Tells where the shape of quotation marks may be what counts: a string is not a character, nor what a shell expands. */
import type { Token } from './token.ts'

/** At least two letters, and nothing but words: neither code nor a value. */
const words = /^"\p{L}[\p{L}' -]*\p{L}"$/u

/** Whether two shapes of quotation marks stand in one text, or stand around what is no word. */
export function mindsQuoteShapes(tokens: readonly Token[]): boolean {
  const quotations = tokens.filter(token => token.kind === 'quotation')
  const reshaped = quotations.filter(isReshaped)
  return reshaped.length > 0 && (reshaped.length < quotations.length || reshaped.some(({ key }) => !words.test(key)))
}

/** Whether the quotation was written with other marks than `"`. */
export function isReshaped(token: Token): boolean {
  return token.kind === 'quotation' && token.rewritten.includes('typography')
}
