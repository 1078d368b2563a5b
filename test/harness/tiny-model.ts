/** Writes a folder with a model of a few hundred bytes: valid ONNX, a valid tokenizer, and one axis of the vector for each word. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface TinyModel {
  /** Each word is one axis; other words are unknown. */
  words: readonly string[]
  weights?: 'fp32' | 'int8'
  /** Further files by their path in the folder. The values are written as JSON. */
  files?: Record<string, unknown>
}

/** Special tokens, and a word that every tokenizer must have. */
const SPECIAL = ['[UNK]', '[CLS]', '[SEP]', 'a']

/** For `[CLS] words [SEP]`, the first token's vector is the first axis, the last one's is the second, and so on. */
export async function writeTinyModel(folder: string, { words, weights = 'fp32', files = {} }: TinyModel) {
  const vocabulary = [...SPECIAL, ...words]
  const all: Record<string, unknown> = {
    'tokenizer.json': {
      added_tokens: [],
      normalizer: { type: 'Lowercase' },
      decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
      pre_tokenizer: { type: 'WhitespaceSplit' },
      post_processor: {
        type: 'TemplateProcessing',
        single: [
          { SpecialToken: { id: '[CLS]', type_id: 0 } },
          { Sequence: { id: 'A', type_id: 0 } },
          { SpecialToken: { id: '[SEP]', type_id: 0 } },
        ],
        pair: [],
        special_tokens: {
          '[CLS]': { id: '[CLS]', ids: [1], tokens: ['[CLS]'] },
          '[SEP]': { id: '[SEP]', ids: [2], tokens: ['[SEP]'] },
        },
      },
      model: {
        type: 'WordPiece',
        unk_token: '[UNK]',
        continuing_subword_prefix: '##',
        max_input_chars_per_word: 100,
        vocab: Object.fromEntries(vocabulary.map((word, id) => [word, id])),
      },
    },
    ...files,
  }
  await mkdir(join(folder, '1_Pooling'), { recursive: true })
  await writeFile(join(folder, 'model.onnx'), encodeModel(vocabulary.length, weights))
  for (const [path, value] of Object.entries(all)) await writeFile(join(folder, path), JSON.stringify(value))
}

/** last_hidden_state contains the rows of an identity matrix that input_ids selects. */
function encodeModel(size: number, weights: 'fp32' | 'int8'): Uint8Array {
  const isWhole = weights === 'int8'
  const values = Array.from({ length: size * size }, (_, at) => (at % (size + 1) === 0 ? 1 : 0))
  const raw = isWhole ? new Uint8Array(values) : new Uint8Array(Float32Array.from(values).buffer)
  const table = [number(1, size), number(1, size), number(2, isWhole ? 3 : 1), text(8, 'table'), block(9, raw)]
  const gather = node('Gather', ['table', 'input_ids'], isWhole ? 'rows' : 'last_hidden_state')
  const cast = node('Cast', ['rows'], 'last_hidden_state', [text(1, 'to'), number(3, 1), number(20, 2)])
  const graph = [
    block(1, gather),
    ...(isWhole ? [block(1, cast)] : []),
    text(2, 'tiny'),
    block(5, ...table),
    block(11, value('input_ids', 7, ['batch', 'tokens'])),
    block(12, value('last_hidden_state', 1, ['batch', 'tokens', size])),
  ]
  return concat([number(1, 8), block(7, ...graph), block(8, number(2, 13))])
}

function node(type: string, inputs: readonly string[], output: string, attribute: Uint8Array[] = []): Uint8Array {
  const attributes = attribute.length > 0 ? [block(5, ...attribute)] : []
  return concat([...inputs.map(input => text(1, input)), text(2, output), text(4, type), ...attributes])
}

function value(name: string, type: number, shape: readonly (string | number)[]): Uint8Array {
  const dimensions = shape.map(size => block(1, typeof size === 'string' ? text(2, size) : number(1, size)))
  return concat([text(1, name), block(2, block(1, number(1, type), block(2, ...dimensions)))])
}

function number(field: number, value: number): Uint8Array {
  return Uint8Array.from([...varint(field * 8), ...varint(value)])
}

function text(field: number, value: string): Uint8Array {
  return block(field, new TextEncoder().encode(value))
}

function block(field: number, ...parts: Uint8Array[]): Uint8Array {
  const bytes = concat(parts)
  return concat([Uint8Array.from([...varint(field * 8 + 2), ...varint(bytes.length)]), bytes])
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts))
}
