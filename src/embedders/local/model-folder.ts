/** Reads a folder with an ONNX model: which files count, and how its makers turn a text into a vector. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'

/** Longer texts get no vector: a question of this length already takes a small model a tenth of a second. */
const MOST_TOKENS = 256

export interface ModelFolder {
  modelFile: string
  tokenizerFile: string
  /** Null when there is none. */
  tokenizerConfigFile: string | null
  recipe: VectorRecipe
}

/** Everything that decides a vector besides the weights and the tokenizer. */
export interface VectorRecipe {
  /** The mean of the tokens' vectors, or the first token's vector. */
  pooling: 'mean' | 'cls'
  /** Prepended to every text. */
  prefix: string
  /** Including special tokens. */
  maxTokens: number
}

/** In order of preference. An int8 model is as good for this purpose and a quarter of the size. */
const MODEL_NAMES = ['model.onnx', 'model_int8.onnx', 'model_quantized.onnx', 'model_uint8.onnx']

/** What the folder lacks, in words that follow "it"; null when it is complete. */
export function findFault(folder: string): string | null {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return 'is not a folder'
  if (!findModelFile(folder)) return 'holds no .onnx file'
  return existsSync(join(folder, 'tokenizer.json')) ? null : 'holds no tokenizer.json'
}

/** Throws when `findFault` finds a fault, or a file is not JSON. */
export function readModelFolder(folder: string): ModelFolder {
  const fault = findFault(folder)
  const modelFile = findModelFile(folder)
  if (fault !== null || modelFile === null) throw new Error(`The folder ${fault}`)
  const tokenizerConfigFile = join(folder, 'tokenizer_config.json')
  return {
    modelFile,
    tokenizerFile: join(folder, 'tokenizer.json'),
    tokenizerConfigFile: existsSync(tokenizerConfigFile) ? tokenizerConfigFile : null,
    recipe: { pooling: readPooling(folder), prefix: readPrefix(folder), maxTokens: readMaxTokens(folder) },
  }
}

function findModelFile(folder: string): string | null {
  const places = [folder, join(folder, 'onnx')]
  for (const name of MODEL_NAMES) {
    const found = places.map(place => join(place, name)).find(file => existsSync(file))
    if (found) return found
  }
  const others = places.filter(place => existsSync(place)).flatMap(place => readdirSync(place).map(n => join(place, n)))
  return others.toSorted().find(file => file.endsWith('.onnx')) ?? null
}

/** Sentence-transformers has a file for it. Of the models without that file, BGE's use the first token. */
function readPooling(folder: string): VectorRecipe['pooling'] {
  const said = readObject(join(folder, '1_Pooling', 'config.json'))
  if (said.pooling_mode_cls_token === true) return 'cls'
  if (said.pooling_mode_mean_tokens === true) return 'mean'
  return namesOf(folder).some(name => /\bbge\b/.test(name)) ? 'cls' : 'mean'
}

/** The default prompt of sentence-transformers, if one is set. E5's models need a prefix but seldom declare it. */
function readPrefix(folder: string): string {
  const { default_prompt_name: chosen, prompts } = readObject(join(folder, 'config_sentence_transformers.json'))
  if (typeof chosen === 'string' && isObject(prompts) && typeof prompts[chosen] === 'string') return prompts[chosen]
  return namesOf(folder).some(name => /\be5\b/.test(name)) ? 'query: ' : ''
}

function readMaxTokens(folder: string): number {
  const said = [
    readObject(join(folder, 'sentence_bert_config.json')).max_seq_length,
    readObject(join(folder, 'tokenizer_config.json')).model_max_length,
    readObject(join(folder, 'config.json')).max_position_embeddings,
  ]
  return Math.min(MOST_TOKENS, ...said.filter((limit): limit is number => typeof limit === 'number' && limit > 0))
}

/** The model's possible names, in lower case. */
function namesOf(folder: string): string[] {
  const { _name_or_path: name } = readObject(join(folder, 'config.json'))
  return [basename(folder), name].filter((name): name is string => typeof name === 'string').map(n => n.toLowerCase())
}

/** Empty when there is no such file. Throws when it is not JSON. */
function readObject(file: string): Record<string, unknown> {
  if (!existsSync(file)) return {}
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return isObject(value) ? value : {}
  } catch (error) {
    throw new Error(`${file} cannot be read`, { cause: error })
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
