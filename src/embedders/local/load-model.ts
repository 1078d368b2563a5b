/** Loads an ONNX model and its tokenizer, which embed and align texts one at a time. */
import { createHash, type Hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type * as Tokenizers from '@huggingface/tokenizers'
import { LRUCache } from 'lru-cache'
import type * as Onnx from 'onnxruntime-node'
import { type Alignment, alignTexts, type ReadText } from '../alignment.ts'
import { normalizeLength } from '../lexical/hashed-vector.ts'
import { toIntegerModel } from './integer-model.ts'
import { type ModelFolder, readModelFolder } from './model-folder.ts'
import { loadTokenizer } from './model-tokenizer.ts'
import { hasTokens, type ModelOutput, pool, poolTokens } from './pool.ts'

/** The words' vectors of one text take some 15 KB. */
const MOST_REMEMBERED = 256
/** The output of models that pool by themselves, as sentence-transformers exports them. */
const POOLED = 'sentence_embedding'

export interface Model {
  /** Name of its embedding space: it changes with the weights, how they are computed with, the tokenizer and the recipe. */
  name: string
  dimensions: number
  /** The unit vector; null when the model cannot read the whole text. */
  embed(text: string, owner: string): Promise<Float32Array | null>
  /** Null when the model cannot read both texts, or gives no vectors of words. */
  align(one: string, other: string, owner: string): Promise<Alignment | null>
}

/** Throws, with a reason for the operator, when the folder's model cannot be loaded. */
export async function loadModel(folder: string): Promise<Model> {
  const files = readModelFolder(folder)
  const { onnx, tokenizers } = await importRuntime()
  const tokenize = await loadTokenizer(tokenizers, files)
  const { run, digest } = await loadSession(onnx, files)
  const recent = new LRUCache<string, ReadText>({ max: MOST_REMEMBERED })

  // One text per run: padding costs what a batch saves (measured: 2 to 4 texts save a fifth, 8 save nothing). Models that quantize at run
  // time also give a text another vector in another batch.
  async function read(text: string): Promise<ReadText | null> {
    const tokenized = tokenize(text)
    if (!tokenized) return null
    const { sentence, tokens } = await run(tokenized.ids)
    const words = hasTokens(tokens) ? tokenized.words : []
    return {
      vector: pool(sentence, files.recipe.pooling),
      words: words.map(({ word, from, to }) => ({ word, vector: normalizeLength(poolTokens(tokens, from, to)) })),
    }
  }

  async function readOnce(text: string, owner: string): Promise<ReadText | null> {
    const name = `${owner}\n${text}`
    const known = recent.get(name)
    if (known) return known
    const made = await read(text)
    if (made) recent.set(name, made)
    return made
  }

  const probe = await read('a')
  if (!probe) throw new Error('The tokenizer cannot read the letter a')
  const dimensions = probe.vector.length
  return {
    name: await nameModel(files, digest, dimensions),
    dimensions,
    async embed(text, owner) {
      return (await readOnce(text, owner))?.vector ?? null
    },
    async align(one, other, owner) {
      const [first, second] = [await readOnce(one, owner), await readOnce(other, owner)]
      return first && second && alignTexts(first, second)
    },
  }
}

interface ModelOutputs {
  /** To be pooled into the text's vector. */
  sentence: ModelOutput
  /** The same output, unless the model pools by itself and also gives its tokens. */
  tokens: ModelOutput
}

async function loadSession(
  onnx: typeof Onnx,
  { modelFile }: ModelFolder,
): Promise<{ run: (ids: number[]) => Promise<ModelOutputs>; digest: Hash }> {
  const { session, digest } = await openSession(onnx, modelFile)
  const names = session.outputNames
  const tokensName = names.find(name => name !== POOLED) ?? POOLED
  const sentenceName = names.includes(POOLED) ? POOLED : tokensName
  async function run(ids: number[]): Promise<ModelOutputs> {
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
    const outputs = await session.run(feeds)
    return { sentence: readOutput(outputs[sentenceName]), tokens: readOutput(outputs[tokensName]) }
  }
  return { run, digest }
}

/** A function of its own, so that the file's bytes can be collected. */
async function openSession(
  onnx: typeof Onnx,
  modelFile: string,
): Promise<{ session: Onnx.InferenceSession; digest: Hash }> {
  // One thread: a question is too little work to split, and the proxy needs the other processors.
  const options = { intraOpNumThreads: 1, interOpNumThreads: 1 }
  const stored = await readFile(modelFile)
  const digest = createHash('sha256').update(stored)
  const rewritten = toIntegerModel(stored)
  if (!rewritten) return { session: await onnx.InferenceSession.create(modelFile, options), digest }
  return {
    session: await onnx.InferenceSession.create(rewritten, options),
    digest: digest.update('as integers of 7 bits'),
  }
}

function readOutput(output: Onnx.Tensor | undefined): ModelOutput {
  if (!output || !(output.data instanceof Float32Array)) throw new Error('The model gives no 32-bit floats')
  return { data: output.data, dims: output.dims }
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

/** `digest`: of the weights and how they are computed with. */
async function nameModel({ modelFile, tokenizerFile, recipe }: ModelFolder, digest: Hash, dimensions: number) {
  // Weights of more than 2 GB are in a separate file.
  for (const file of [`${modelFile}_data`, `${modelFile}.data`]) {
    if (existsSync(file)) digest.update(await readFile(file))
  }
  digest.update(await readFile(tokenizerFile)).update(JSON.stringify(recipe))
  return `local-${digest.digest('hex').slice(0, 16)}-${dimensions}`
}
