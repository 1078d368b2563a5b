/** Guards against the tokenizer's quadratic merge: no word passed to it is longer than a limit. */

/** Merging takes the square of a word's length, so longer ones are cut; each cut adds at most about one token. */
const LONGEST_RUN_CHARS = 128

/** What the tokenizer's pattern takes as one word of any length: letters, signs, or white space. */
const LONG_RUN = new RegExp(
  `[\\p{L}\\p{M}]{${LONGEST_RUN_CHARS},}|[^\\s\\p{L}\\p{N}]{${LONGEST_RUN_CHARS},}|\\s{${LONGEST_RUN_CHARS},}`,
  'gu',
)

/** Cuts the text into pieces to be tokenized separately; nearly always it is one piece. */
export function splitLongRuns(text: string): string[] {
  if (text.length < LONGEST_RUN_CHARS) return [text]
  const pieces: string[] = []
  let start = 0
  for (const { index, 0: run } of text.matchAll(LONG_RUN)) {
    if (index > start) pieces.push(text.slice(start, index))
    pieces.push(...cutRun(run))
    start = index + run.length
  }
  if (start < text.length) pieces.push(text.slice(start))
  return pieces
}

/** Cuts between characters, never inside a surrogate pair. */
function cutRun(run: string): string[] {
  const pieces: string[] = []
  let start = 0
  while (start < run.length) {
    const end = start + LONGEST_RUN_CHARS
    const splitsPair =
      end < run.length && isLowSurrogate(run.charCodeAt(end)) && isHighSurrogate(run.charCodeAt(end - 1))
    pieces.push(run.slice(start, splitsPair ? end - 1 : end))
    start = splitsPair ? end - 1 : end
  }
  return pieces
}

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff
