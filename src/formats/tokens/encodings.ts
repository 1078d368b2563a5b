/** The tokenizer's vocabularies: which one a model uses, loaded at first use. */
export type EncodingName = 'o200k_base' | 'cl100k_base'

type Encoding = typeof import('gpt-tokenizer/encoding/o200k_base')

/** Literally, so that a bundler finds them. */
const LOAD: Readonly<Record<EncodingName, () => Encoding>> = {
  o200k_base: () => require('gpt-tokenizer/encoding/o200k_base'),
  cl100k_base: () => require('gpt-tokenizer/encoding/cl100k_base'),
}
const loaded = new Map<EncodingName, Encoding>()

/** OpenAI's models from before o200k_base, with a vendor prefix or as the base of a fine-tuned model. */
const CL100K_MODELS = /(?:^|[/:])(?:gpt-4(?:$|[-:](?!o))|gpt-3\.5|gpt-35|text-embedding-|(?:davinci|babbage)-002)/i

/** For the library's calls: text that spells a special token is plain text like any other. */
export const PLAIN_TEXT_OPTIONS = { disallowedSpecial: new Set<string>() }

/**
 * The vocabulary for a model's tokens. For other vendors' models, whose tokenizers are not public or not included, `o200k_base` is an
 * estimate.
 */
export function encodingOfModel(model?: string): EncodingName {
  return model !== undefined && CL100K_MODELS.test(model) ? 'cl100k_base' : 'o200k_base'
}

/**
 * Returns the encoding. The first call for a name blocks for about half a second and keeps 50 to 75 MB: a proxy that never counts is spared
 * both, and one that does leaves all that needs a vocabulary to the worker.
 */
export function loadEncoding(name: EncodingName): Encoding {
  const known = loaded.get(name)
  if (known) return known
  const encoding = LOAD[name]()
  // The library's merge cache would keep whole prompts alive, because its keys are slices of them; it saves no time here.
  encoding.setMergeCacheSize(0)
  loaded.set(name, encoding)
  return encoding
}
