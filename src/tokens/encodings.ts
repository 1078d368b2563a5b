/** Owns the tokenizer's vocabularies: which one a model uses, loaded on first need. */
import { createRequire } from 'node:module'

export type EncodingName = 'o200k_base' | 'cl100k_base'

type Encoding = typeof import('gpt-tokenizer/encoding/o200k_base')

const require = createRequire(import.meta.url)
const loaded = new Map<EncodingName, Encoding>()

/** The last generation of OpenAI models before o200k_base, with a vendor prefix or as the base of a fine-tuned one. */
const CL100K_MODELS = /(?:^|[/:])(?:gpt-4(?:$|[-:](?!o))|gpt-3\.5|gpt-35|text-embedding-|(?:davinci|babbage)-002)/i

/** For the library's calls: text that spells a special token is a user's text like any other. */
export const AS_PLAIN_TEXT = { disallowedSpecial: new Set<string>() }

/**
 * The vocabulary a model's tokens are counted in. Models of other vendors, whose tokenizers are not public or not here,
 * are counted in `o200k_base` as an estimate.
 */
export function encodingOfModel(model?: string): EncodingName {
  return model !== undefined && CL100K_MODELS.test(model) ? 'cl100k_base' : 'o200k_base'
}

/**
 * The encoding itself. The first call for a name blocks for about half a second and keeps 50 to 75 MB, which is why it
 * is not done at import.
 */
export function loadEncoding(name: EncodingName): Encoding {
  const known = loaded.get(name)
  if (known) return known
  const encoding = require(`gpt-tokenizer/encoding/${name}`) as Encoding
  // Its cache of merged words would keep whole prompts alive, for its keys are slices of them; it saves no time here.
  encoding.setMergeCacheSize(0)
  loaded.set(name, encoding)
  return encoding
}

/** Drops the half character that tokens may have ended in: the library's one decoder would put it before the next text. */
export function flushDecoder(): void {
  const { decoder } =
    require('gpt-tokenizer/BytePairEncodingCore') as typeof import('gpt-tokenizer/BytePairEncodingCore')
  decoder.decode()
}

/** Whether counting for the model needs no vocabulary that is not there yet. */
export function isLoaded(model?: string): boolean {
  return loaded.has(encodingOfModel(model))
}

/** Loads the vocabulary of modern models ahead of the first request that counts tokens, for a moment when nobody waits. */
export function warmTokenizer(): void {
  loadEncoding('o200k_base').countTokens('warm')
}
