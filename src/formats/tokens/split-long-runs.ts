/** Splits long words, because the tokenizer's merge takes quadratic time. */

/** Maximum length of a word. Longer words are split; each split adds at most about one token. */
const MAX_RUN_CHARS = 128

/** Matches long runs of letters, signs or white space, which the tokenizer treats as one word. */
const LONG_RUN = new RegExp(
  `[\\p{L}\\p{M}]{${MAX_RUN_CHARS},}|[^\\s\\p{L}\\p{N}]{${MAX_RUN_CHARS},}|\\s{${MAX_RUN_CHARS},}`,
  'gu',
)

/** Splits the text into pieces to tokenize separately. Nearly all texts are one piece. */
export function splitLongRuns(text: string): string[] {
  if (text.length < MAX_RUN_CHARS) return [text]
  const pieces: string[] = []
  let start = 0
  for (const { index, 0: run } of text.matchAll(LONG_RUN)) {
    if (index > start) pieces.push(text.slice(start, index))
    pieces.push(...splitRun(run))
    start = index + run.length
  }
  if (start < text.length) pieces.push(text.slice(start))
  return pieces
}

/** Splits a run between characters, never within a surrogate pair. */
function splitRun(run: string): string[] {
  const pieces: string[] = []
  let start = 0
  while (start < run.length) {
    const end = start + MAX_RUN_CHARS
    const splitsPair =
      end < run.length && isLowSurrogate(run.charCodeAt(end)) && isHighSurrogate(run.charCodeAt(end - 1))
    pieces.push(run.slice(start, splitsPair ? end - 1 : end))
    start = splitsPair ? end - 1 : end
  }
  return pieces
}

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff
