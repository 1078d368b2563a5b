/** Knows the scripts that are written without spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese. */

const unspaced = /[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u2E80-\u9FFF\uF900-\uFAFF\u{20000}-\u{3FFFF}]/u

/** Whether a text holds characters of such a script. */
export function isUnspaced(text: string): boolean {
  return unspaced.test(text)
}
