/** Owns the cheap estimate of a text's tokens: one pass over its characters, no vocabulary. */

/** Characters a token spans on average: ASCII prose and code, other alphabets, and scripts written without spaces. */
const ASCII_CHARS_PER_TOKEN = 4
const ALPHABETIC_CHARS_PER_TOKEN = 2.5
const IDEOGRAPHIC_CHARS_PER_TOKEN = 1.2

const FIRST_NON_ASCII = 0x80
const FIRST_IDEOGRAPHIC = 0x2e80

/** Estimated tokens of a text, at least 1 unless it is empty. Within about a quarter of the real count for prose. */
export function estimateTextTokens(text: string): number {
  let alphabetic = 0
  let ideographic = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit >= FIRST_IDEOGRAPHIC) ideographic++
    else if (unit >= FIRST_NON_ASCII) alphabetic++
  }
  const ascii = text.length - alphabetic - ideographic
  return Math.ceil(
    ascii / ASCII_CHARS_PER_TOKEN + alphabetic / ALPHABETIC_CHARS_PER_TOKEN + ideographic / IDEOGRAPHIC_CHARS_PER_TOKEN,
  )
}
