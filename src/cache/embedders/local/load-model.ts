/** Loads an ONNX model and its tokenizer. They embed one text at a time. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type * as Tokenizers from '@huggingface/tokenizers'
import type * as Onnx from 'onnxruntime-node'
import { formatCommand } from '../../../config/operator-command.ts'
import { normalizeVector } from '../lexical-features.ts'
import { type EmbeddingRecipe, type ModelFolder, readModelFolder } from './model-folder.ts'
import { findModelRuntime } from './model-runtime.ts'
import { loadTokenEncoder } from './model-tokenizer.ts'

/** The output's name in models that pool by themselves, as exported by sentence-transformers. */
const POOLED = 'sentence_embedding'

export interface EmbeddingModel {
  /** Name of the embedding space. It changes with the weights, the tokenizer and the recipe. */
  name: string
  dimensions: number
  /** Resolves to the text's unit vector. Null when the model cannot read the whole text. */
  embed(text: string): Promise<Float32Array | null>
}

/** Loads the folder's model. Throws an error for the operator when it cannot be loaded. */
export async function loadEmbeddingModel(folder: string): Promise<EmbeddingModel> {
  const files = readModelFolder(folder)
  const { onnx, tokenizers } = await importRuntime(folder)
  const tokenize = await loadTokenEncoder(tokenizers, files)
  const run = await loadSession(onnx, files)

  // A run has one text, because padding costs what a batch saves (measured: 2 to 4 texts save a fifth, 8 save nothing). Models that
  // quantize at run time also compute another vector in another batch.
  async function embed(text: string): Promise<Float32Array | null> {
    const ids = tokenize(text)
    return ids && pool(await run(ids), files.recipe.pooling)
  }

  const probe = await embed('a')
  if (!probe) throw new Error('tokenizer cannot encode the letter "a"; use another model')
  const dimensions = probe.length
  return {
    name: await nameModel(files, dimensions),
    dimensions,
    embed,
  }
}

async function loadSession(
  onnx: typeof Onnx,
  { modelFile }: ModelFolder,
): Promise<(ids: number[]) => Promise<ModelOutput>> {
  // One thread is used, because a question is too little work to split and the proxy needs the other processors.
  const session = await onnx.InferenceSession.create(modelFile, { intraOpNumThreads: 1, interOpNumThreads: 1 })
  const names = session.outputNames
  const name = names.includes(POOLED) ? POOLED : (names[0] ?? POOLED)
  return async ids => {
    const shape = [1, ids.length]
    const inputs: Record<string, BigInt64Array> = {
      input_ids: BigInt64Array.from(ids, BigInt),
      attention_mask: new BigInt64Array(ids.length).fill(1n),
      token_type_ids: new BigInt64Array(ids.length),
    }
    const feeds = Object.fromEntries(
      session.inputNames.map(name => {
        const values = inputs[name]
        if (!values)
          throw new Error(`model requires the input ${name}, which is not supported; use a sentence embedding model`)
        return [name, new onnx.Tensor('int64', values, shape)]
      }),
    )
    const outputs = await session.run(feeds)
    return readOutput(outputs[name])
  }
}

function readOutput(output: Onnx.Tensor | undefined): ModelOutput {
  if (!output || !(output.data instanceof Float32Array))
    throw new Error('model output is not 32-bit floats; use another export of the model')
  return { data: output.data, dims: output.dims }
}

async function importRuntime(folder: string): Promise<{ onnx: typeof Onnx; tokenizers: typeof Tokenizers }> {
  const runtime = findModelRuntime(folder)
  if (!runtime) throw new Error(`the model runtime is not installed; run ${formatCommand('embedder:install')}`)
  try {
    const [onnx, tokenizers] = await Promise.all([import(runtime.onnx), import(runtime.tokenizers)])
    return { onnx, tokenizers }
  } catch (error) {
    throw new Error('onnxruntime-node does not run on this platform', { cause: error })
  }
}

async function nameModel({ modelFile, tokenizerFile, recipe }: ModelFolder, dimensions: number) {
  const digest = createHash('sha256')
  // Weights of more than 2 GB are in a separate file.
  for (const file of [modelFile, `${modelFile}_data`, `${modelFile}.data`]) {
    if (existsSync(file)) digest.update(await readFile(file))
  }
  digest.update(await readFile(tokenizerFile)).update(JSON.stringify(recipe))
  return `local-${digest.digest('hex').slice(0, 16)}-${dimensions}`
}

/** A model's output: [1, tokens, dimensions], or [1, dimensions] when the model pools by itself. */
interface ModelOutput {
  data: Float32Array
  dims: readonly number[]
}

/** Returns the unit vector. The sum of the tokens' vectors has the same direction as their mean. */
function pool({ data, dims }: ModelOutput, pooling: EmbeddingRecipe['pooling']): Float32Array {
  const dimensions = dims.at(-1) ?? 0
  const tokens = dims.length > 2 && pooling === 'mean' ? (dims[1] ?? 1) : 1
  const vector = data.slice(0, dimensions)
  for (let at = dimensions; at < tokens * dimensions; at += 1)
    vector[at % dimensions] = (vector[at % dimensions] ?? 0) + (data[at] ?? 0)
  if (vector.length === 0 || !vector.every(Number.isFinite))
    throw new Error('model output is not a finite vector; use another model')
  return normalizeVector(vector)
}
