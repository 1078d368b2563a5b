/** Reads a folder with an ONNX model: its files and the recipe by which it embeds a text. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { findModelFile, findModelFolderProblem } from '../../../config/model-files.ts'
import { isJsonObject } from '../../../formats/json/canonical.ts'

/** Longer texts get no vector. A question of this length takes a small model a tenth of a second. */
const MAX_TOKENS = 256

export interface ModelFolder {
  modelFile: string
  tokenizerFile: string
  /** Null when the folder has no such file. */
  tokenizerConfigFile: string | null
  recipe: EmbeddingRecipe
}

/** The settings that determine a vector, besides the weights and the tokenizer. */
export interface EmbeddingRecipe {
  /** The mean of the tokens' vectors, or the first token's vector. */
  pooling: 'mean' | 'cls'
  /** Prepended to every text. */
  prefix: string
  /** Maximum tokens of a text, including special tokens. */
  maxTokens: number
}

/** Throws when the folder has a problem, or a file is not JSON. */
export function readModelFolder(folder: string): ModelFolder {
  const problem = findModelFolderProblem(folder)
  const modelFile = findModelFile(folder)
  if (problem !== null || modelFile === null) throw new Error(`The folder ${problem}`)
  const tokenizerConfigFile = join(folder, 'tokenizer_config.json')
  return {
    modelFile,
    tokenizerFile: join(folder, 'tokenizer.json'),
    tokenizerConfigFile: existsSync(tokenizerConfigFile) ? tokenizerConfigFile : null,
    recipe: { pooling: readPooling(folder), prefix: readPrefix(folder), maxTokens: readMaxTokens(folder) },
  }
}

/** Reads the pooling from the file of sentence-transformers. Without that file, BGE models use the first token and others the mean. */
function readPooling(folder: string): EmbeddingRecipe['pooling'] {
  const config = readObject(join(folder, '1_Pooling', 'config.json'))
  if (config.pooling_mode_cls_token === true) return 'cls'
  if (config.pooling_mode_mean_tokens === true) return 'mean'
  return namesOf(folder).some(name => /\bbge\b/.test(name)) ? 'cls' : 'mean'
}

/** Reads the default prompt of sentence-transformers, if one is set. E5 models need a prefix but rarely declare it. */
function readPrefix(folder: string): string {
  const { default_prompt_name: chosen, prompts } = readObject(join(folder, 'config_sentence_transformers.json'))
  if (typeof chosen === 'string' && isJsonObject(prompts) && typeof prompts[chosen] === 'string') return prompts[chosen]
  return namesOf(folder).some(name => /\be5\b/.test(name)) ? 'query: ' : ''
}

function readMaxTokens(folder: string): number {
  const limits = [
    readObject(join(folder, 'sentence_bert_config.json')).max_seq_length,
    readObject(join(folder, 'tokenizer_config.json')).model_max_length,
    readObject(join(folder, 'config.json')).max_position_embeddings,
  ]
  return Math.min(MAX_TOKENS, ...limits.filter((limit): limit is number => typeof limit === 'number' && limit > 0))
}

/** Returns the model's possible names, in lower case. */
function namesOf(folder: string): string[] {
  const { _name_or_path: name } = readObject(join(folder, 'config.json'))
  return [basename(folder), name].filter((name): name is string => typeof name === 'string').map(n => n.toLowerCase())
}

/** Reads a JSON object. Returns an empty one when the file does not exist. Throws when it is not JSON. */
function readObject(file: string): Record<string, unknown> {
  if (!existsSync(file)) return {}
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return isJsonObject(value) ? value : {}
  } catch (error) {
    throw new Error(`${file} must be a readable JSON file`, { cause: error })
  }
}
