/** Counts the tokens of texts within bounded time: exactly at first, then by a calibrated estimate. */
import { estimateTextTokens } from './estimate-text.ts'

export type TokenCounter = (text: string) => number

/** Number of characters that one counter counts exactly. It takes about 7 ms for prose, and 200 ms for the slowest known text. */
const EXACT_CHARS = 131_072
/** Number of samples of a longer text, which are spread evenly over it. */
const SAMPLE_WINDOWS = 16
const SAMPLE_WINDOW_CHARS = 1024

/**
 * Creates a counter for the texts of one request. The first `EXACT_CHARS` characters are counted exactly. A text that does not fit in the
 * rest of them is estimated and calibrated by a sample, so that no request exceeds a fixed time.
 */
export function createTokenCounter(model?: string): TokenCounter {
  const encoding = loadEncoding(encodingOfModel(model))
  let exactCharsLeft = EXACT_CHARS
  let counted = 0
  let estimated = 0

  const countExactly: TokenCounter = text => {
    let tokens = 0
    for (const piece of splitLongRuns(text)) tokens += encoding.countTokens(piece, PLAIN_TEXT_OPTIONS)
    exactCharsLeft -= text.length
    counted += tokens
    estimated += estimateTextTokens(text)
    return tokens
  }

  return text => {
    if (text.length <= exactCharsLeft) return countExactly(text)
    const sample = exactCharsLeft >= SAMPLE_WINDOWS * SAMPLE_WINDOW_CHARS ? takeSample(text) : ''
    // Without characters left for a sample, the text is assumed to be like those before it.
    const ratio = sample === '' ? counted / estimated : countExactly(sample) / estimateTextTokens(sample)
    return Math.ceil(estimateTextTokens(text) * ratio)
  }
}

function takeSample(text: string): string {
  const stride = (text.length - SAMPLE_WINDOW_CHARS) / (SAMPLE_WINDOWS - 1)
  const windows = Array.from({ length: SAMPLE_WINDOWS }, (_, index) => {
    const start = Math.floor(index * stride)
    return text.slice(start, start + SAMPLE_WINDOW_CHARS)
  })
  return windows.join('')
}

/** Maximum length of a word. Longer words are split; each split adds at most about one token. */
const MAX_RUN_CHARS = 128

/** Matches long runs of letters, signs or white space, which the tokenizer treats as one word. */
const LONG_RUN = new RegExp(
  `[\\p{L}\\p{M}]{${MAX_RUN_CHARS},}|[^\\s\\p{L}\\p{N}]{${MAX_RUN_CHARS},}|\\s{${MAX_RUN_CHARS},}`,
  'gu',
)

/** Splits the text into pieces to tokenize separately. Nearly all texts are one piece. */
function splitLongRuns(text: string): string[] {
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

type EncodingName = 'o200k_base' | 'cl100k_base'

type Encoding = typeof import('gpt-tokenizer/encoding/o200k_base')

/** The paths are literals, so that a bundler finds them. */
const LOAD: Readonly<Record<EncodingName, () => Encoding>> = {
  o200k_base: () => require('gpt-tokenizer/encoding/o200k_base'),
  cl100k_base: () => require('gpt-tokenizer/encoding/cl100k_base'),
}
const loaded = new Map<EncodingName, Encoding>()

/** OpenAI's models from before o200k_base, with a vendor prefix or as the base of a fine-tuned model. */
const CL100K_MODELS = /(?:^|[/:])(?:gpt-4(?:$|[-:](?!o))|gpt-3\.5|gpt-35|text-embedding-|(?:davinci|babbage)-002)/i

/** Options of the library's calls. They treat the text of a special token as plain text. */
const PLAIN_TEXT_OPTIONS = { disallowedSpecial: new Set<string>() }

/**
 * Returns the vocabulary of a model. For other vendors' models, whose tokenizers are not public or not included, `o200k_base` is an
 * estimate.
 */
export function encodingOfModel(model?: string): EncodingName {
  return model !== undefined && CL100K_MODELS.test(model) ? 'cl100k_base' : 'o200k_base'
}

/**
 * Returns the encoding. The first call for a name blocks for about half a second and allocates 50 to 75 MB. So only the worker calls it, when
 * tokens have to be counted.
 */
export function loadEncoding(name: EncodingName): Encoding {
  const known = loaded.get(name)
  if (known) return known
  const encoding = LOAD[name]()
  // The library's merge cache would retain whole prompts, because its keys are slices of them. It saves no time here.
  encoding.setMergeCacheSize(0)
  loaded.set(name, encoding)
  return encoding
}
