/** Decides where the kind of quotation marks matters: a string differs from a character, and shells treat the kinds differently. */
import type { Token } from './token.ts'

/** At least two letters, and only words: neither code nor a value. */
const words = /^"\p{L}[\p{L}' -]*\p{L}"$/u

/** Whether a text has two kinds of quotation marks, or marks around something that is not words. */
export function mindsQuoteShapes(tokens: readonly Token[]): boolean {
  const quotations = tokens.filter(token => token.kind === 'quotation')
  const reshaped = quotations.filter(isReshaped)
  return reshaped.length > 0 && (reshaped.length < quotations.length || reshaped.some(({ key }) => !words.test(key)))
}

/** Whether the quotation was written with marks other than `"`. */
export function isReshaped(token: Token): boolean {
  return token.kind === 'quotation' && token.rewritten.includes('typography')
}
