/** Reads a text as a model does: as token ids. */
import { readFile } from 'node:fs/promises'
import type * as Tokenizers from '@huggingface/tokenizers'
import type { ModelFolder } from './model-folder.ts'

/** Null when the text is too long or contains an unknown token: two texts that differ only in what the model does not see would get equal vectors. */
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

/** WordPiece names its unknown token, Unigram gives its index; byte-level models have none. */
function unknownIdOf(tokenizer: Tokenizers.Tokenizer, { model }: TokenizerFile) {
  if (typeof model?.unk_id === 'number') return model.unk_id
  return typeof model?.unk_token === 'string' ? (tokenizer.token_to_id(model.unk_token) ?? null) : null
}
