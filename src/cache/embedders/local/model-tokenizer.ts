/** Encodes a text as the token ids that a model reads. */
import { readFile } from 'node:fs/promises'
import type * as Tokenizers from '@huggingface/tokenizers'
import type { ModelFolder } from './model-folder.ts'

/** Returns null when the text is too long or contains an unknown token, because texts that differ only there would get equal vectors. */
export type TokenEncoder = (text: string) => number[] | null

interface TokenizerFile {
  model?: { type?: unknown; unk_token?: unknown; unk_id?: unknown }
}

export async function loadTokenEncoder(
  { Tokenizer }: typeof Tokenizers,
  { tokenizerFile, tokenizerConfigFile, recipe }: ModelFolder,
): Promise<TokenEncoder> {
  const description: TokenizerFile = JSON.parse(await readFile(tokenizerFile, 'utf8'))
  const config = tokenizerConfigFile === null ? {} : JSON.parse(await readFile(tokenizerConfigFile, 'utf8'))
  const tokenizer = new Tokenizer(description, config)
  const unknown = unknownIdOf(tokenizer, description)
  return text => {
    const { ids } = tokenizer.encode(recipe.prefix + text)
    if (ids.length > recipe.maxTokens || (unknown !== null && ids.includes(unknown))) return null
    return ids
  }
}

/** Returns the id of the unknown token. WordPiece declares its text, Unigram its id; byte-level models have none. */
function unknownIdOf(tokenizer: Tokenizers.Tokenizer, { model }: TokenizerFile) {
  if (typeof model?.unk_id === 'number') return model.unk_id
  return typeof model?.unk_token === 'string' ? (tokenizer.token_to_id(model.unk_token) ?? null) : null
}
