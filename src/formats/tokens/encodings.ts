/** Selects and loads the tokenizer's vocabularies. Each is loaded at first use. */
export type EncodingName = 'o200k_base' | 'cl100k_base'

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
export const PLAIN_TEXT_OPTIONS = { disallowedSpecial: new Set<string>() }

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
