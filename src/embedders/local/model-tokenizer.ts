/** Reads a text as a model does: token ids, and which tokens spell a word. */
import { readFile } from 'node:fs/promises'
import type * as Tokenizers from '@huggingface/tokenizers'
import type { ModelFolder } from './model-folder.ts'

export interface TokenizedText {
  ids: number[]
  /** Without punctuation and special tokens. `from` and `to` are places in `ids`; `to` is exclusive. */
  words: { word: string; from: number; to: number }[]
}

/** Null when the text is too long or contains an unknown token: two texts that differ only in what the model does not see would get equal vectors. */
export type Tokenize = (text: string) => TokenizedText | null

interface TokenizerFile {
  model?: { type?: unknown; unk_token?: unknown; unk_id?: unknown; continuing_subword_prefix?: unknown }
}

export async function loadTokenizer(
  { Tokenizer }: typeof Tokenizers,
  { tokenizerFile, tokenizerConfigFile, recipe }: ModelFolder,
): Promise<Tokenize> {
  const description: TokenizerFile = JSON.parse(await readFile(tokenizerFile, 'utf8'))
  const config = tokenizerConfigFile === null ? {} : JSON.parse(await readFile(tokenizerConfigFile, 'utf8'))
  const tokenizer = new Tokenizer(description, config)
  const unknown = unknownIdOf(tokenizer, description)
  const readPiece = pieceReader(description)
  return text => {
    const { ids, tokens } = tokenizer.encode(recipe.prefix + text)
    if (ids.length > recipe.maxTokens || (unknown !== null && ids.includes(unknown))) return null
    return { ids, words: joinPieces(tokens.map(readPiece)) }
  }
}

/** WordPiece names its unknown token, Unigram gives its index; byte-level models have none. */
function unknownIdOf(tokenizer: Tokenizers.Tokenizer, { model }: TokenizerFile) {
  if (typeof model?.unk_id === 'number') return model.unk_id
  return typeof model?.unk_token === 'string' ? (tokenizer.token_to_id(model.unk_token) ?? null) : null
}

interface Piece {
  letters: string
  startsWord: boolean
}

/** WordPiece marks the pieces that continue a word, all others those that start one. */
function pieceReader({ model }: TokenizerFile): (token: string) => Piece {
  if (model?.type !== 'WordPiece')
    return token => ({ letters: token.replace(/^[▁Ġ]/u, ''), startsWord: /^[▁Ġ]/u.test(token) })
  const prefix = typeof model.continuing_subword_prefix === 'string' ? model.continuing_subword_prefix : '##'
  return token => {
    const continues = token.startsWith(prefix)
    return { letters: continues ? token.slice(prefix.length) : token, startsWord: !continues }
  }
}

function joinPieces(pieces: readonly Piece[]): TokenizedText['words'] {
  const words: TokenizedText['words'] = []
  for (const [at, { letters, startsWord }] of pieces.entries()) {
    const last = words.at(-1)
    if (!/^[\p{L}\p{N}]/u.test(letters)) continue
    if (last?.to === at && !startsWord) {
      last.word += letters
      last.to = at + 1
    } else words.push({ word: letters, from: at, to: at + 1 })
  }
  return words
}
