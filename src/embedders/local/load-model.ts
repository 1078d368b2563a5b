/** Loads an ONNX model and its tokenizer, which embed texts one at a time. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type * as Tokenizers from '@huggingface/tokenizers'
import type * as Onnx from 'onnxruntime-node'
import { type ModelFolder, readModelFolder } from './model-folder.ts'
import { pool } from './pool.ts'
import { readWeightPrecision } from './weight-precision.ts'

export interface Model {
  /** Name of its embedding space: it changes with the weights, their precision, the tokenizer and the recipe. */
  name: string
  dimensions: number
  /** The unit vector; null when the model cannot read the whole text. */
  embed(text: string): Promise<Float32Array | null>
}

/** Throws, with a reason for the operator, when the folder's model cannot be loaded. */
export async function loadModel(folder: string): Promise<Model> {
  const files = readModelFolder(folder)
  const { onnx, tokenizers } = await importRuntime()
  const encode = await loadTokenizer(tokenizers, files)
  // One thread: a question is too little work to split, and the proxy needs the other processors.
  const session = await onnx.InferenceSession.create(files.modelFile, { intraOpNumThreads: 1, interOpNumThreads: 1 })
  const output = session.outputNames.includes('sentence_embedding') ? 'sentence_embedding' : session.outputNames[0]

  // One text per run: padding costs what a batch saves (measured: 2 to 4 texts save a fifth, 8 save nothing). Models that quantize at run
  // time also give a text another vector in another batch.
  async function embed(text: string): Promise<Float32Array | null> {
    const ids = encode(text)
    if (!ids) return null
    const shape = [1, ids.length]
    const inputs: Record<string, BigInt64Array> = {
      input_ids: BigInt64Array.from(ids, BigInt),
      attention_mask: new BigInt64Array(ids.length).fill(1n),
      token_type_ids: new BigInt64Array(ids.length),
    }
    const feeds = Object.fromEntries(
      session.inputNames.map(name => {
        const values = inputs[name]
        if (!values) throw new Error(`The model asks for ${name}, which no text model for sentences needs`)
        return [name, new onnx.Tensor('int64', values, shape)]
      }),
    )
    const answer = (await session.run(feeds))[output ?? '']
    if (!answer || !(answer.data instanceof Float32Array)) throw new Error('The model gives no 32-bit floats')
    return pool({ data: answer.data, dims: answer.dims }, files.recipe.pooling)
  }

  const probe = await embed('a')
  if (!probe) throw new Error('The tokenizer cannot read the letter a')
  return { name: await nameModel(files, probe.length), dimensions: probe.length, embed }
}

/** Optional dependencies: they are large, and not available for every platform. */
async function importRuntime(): Promise<{ onnx: typeof Onnx; tokenizers: typeof Tokenizers }> {
  try {
    const [onnx, tokenizers] = await Promise.all([import('onnxruntime-node'), import('@huggingface/tokenizers')])
    return { onnx, tokenizers }
  } catch (error) {
    throw new Error('onnxruntime-node is not installed, or does not run on this platform', { cause: error })
  }
}

/**
 * Turns a text into token ids. Returns null when the text is too long or contains an unknown token: two texts that differ only in what
 * the model does not see would get equal vectors.
 */
async function loadTokenizer(
  { Tokenizer }: typeof Tokenizers,
  { tokenizerFile, tokenizerConfigFile, recipe }: ModelFolder,
): Promise<(text: string) => number[] | null> {
  const description = JSON.parse(await readFile(tokenizerFile, 'utf8'))
  const config = tokenizerConfigFile === null ? {} : JSON.parse(await readFile(tokenizerConfigFile, 'utf8'))
  const tokenizer = new Tokenizer(description, config)
  const unknown = unknownIdOf(tokenizer, description)
  return text => {
    const { ids } = tokenizer.encode(recipe.prefix + text)
    return ids.length > recipe.maxTokens || (unknown !== null && ids.includes(unknown)) ? null : ids
  }
}

/** WordPiece names its unknown token, Unigram gives its index; byte-level models have none. */
function unknownIdOf(
  tokenizer: Tokenizers.Tokenizer,
  { model }: { model?: { unk_token?: unknown; unk_id?: unknown } },
) {
  if (typeof model?.unk_id === 'number') return model.unk_id
  return typeof model?.unk_token === 'string' ? (tokenizer.token_to_id(model.unk_token) ?? null) : null
}

async function nameModel({ modelFile, tokenizerFile, recipe }: ModelFolder, dimensions: number): Promise<string> {
  const model = await readFile(modelFile)
  const digest = createHash('sha256').update(model)
  // Weights of more than 2 GB are in a separate file.
  for (const file of [`${modelFile}_data`, `${modelFile}.data`]) {
    if (existsSync(file)) digest.update(await readFile(file))
  }
  digest.update(await readFile(tokenizerFile)).update(JSON.stringify(recipe))
  return `local-${digest.digest('hex').slice(0, 16)}-${dimensions}-${readWeightPrecision(model)}`
}
