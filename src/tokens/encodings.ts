/** Owns the tokenizers: which vocabulary a model uses, read on first need. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Cl100KBase } from 'gpt-tokenizer/encodingParams/cl100k_base'
import { O200KBase } from 'gpt-tokenizer/encodingParams/o200k_base'
import { BytePairs } from './byte-pairs.ts'
import { Vocabulary } from './vocabulary.ts'

export type EncodingName = 'o200k_base' | 'cl100k_base'

/** Text that spells a special token is a user's text like any other, to all of these. */
export interface Encoding {
  countTokens(text: string): number
  encode(text: string): number[]
  /** Special tokens have their names' bytes; undefined where there is no such token. */
  bytesOf(token: number): Uint8Array | undefined
}

const DEFINITIONS = { o200k_base: O200KBase([]), cl100k_base: Cl100KBase([]) }
const loaded = new Map<EncodingName, Encoding>()

/** The last generation of OpenAI models before o200k_base, with a vendor prefix or as the base of a fine-tuned one. */
const CL100K_MODELS = /(?:^|[/:])(?:gpt-4(?:$|[-:](?!o))|gpt-3\.5|gpt-35|text-embedding-|(?:davinci|babbage)-002)/i

/**
 * The vocabulary a model's tokens are counted in. Models of other vendors, whose tokenizers are not public or not here,
 * are counted in `o200k_base` as an estimate.
 */
export function encodingOfModel(model?: string): EncodingName {
  return model !== undefined && CL100K_MODELS.test(model) ? 'cl100k_base' : 'o200k_base'
}

/** The encoding itself. The first call for a name reads its vocabulary. */
export function loadEncoding(name: EncodingName): Encoding {
  const known = loaded.get(name)
  if (known) return known
  const encoding = openEncoding(name)
  loaded.set(name, encoding)
  return encoding
}

/** The library's own data and definitions: its own tables take ten times as long to fill, and as much room. */
function openEncoding(name: EncodingName): Encoding {
  const { tokenSplitRegex, specialTokensEncoder = [] } = DEFINITIONS[name]
  const special = new Map(Array.from(specialTokensEncoder, ([text, token]) => [token, Buffer.from(text)]))
  const file = fileURLToPath(import.meta.resolve(`gpt-tokenizer/data/${name}.tiktoken`))
  const vocabulary = new Vocabulary(readFileSync(file))
  const pairs = new BytePairs(vocabulary, tokenSplitRegex)
  return {
    countTokens: text => pairs.count(text),
    encode: text => pairs.encode(text),
    bytesOf: token => special.get(token) ?? vocabulary.bytesOf(token),
  }
}

/** Reads the vocabulary of modern models ahead of the first request that counts tokens, for a moment when nobody waits. */
export function warmTokenizer(): void {
  loadEncoding('o200k_base').countTokens('warm')
}
