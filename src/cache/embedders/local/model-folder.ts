/** Reads a folder with an ONNX model: how its makers turn a text into a vector. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { findModelFile, findModelFolderProblem } from '../../../config/model-files.ts'
import { isJsonObject } from '../../../formats/json/canonical.ts'

/** Longer texts get no vector: a question of this length already takes a small model a tenth of a second. */
const MOST_TOKENS = 256

export interface ModelFolder {
  modelFile: string
  tokenizerFile: string
  /** Null when there is none. */
  tokenizerConfigFile: string | null
  recipe: EmbeddingRecipe
}

/** Everything that decides a vector besides the weights and the tokenizer. */
export interface EmbeddingRecipe {
  /** The mean of the tokens' vectors, or the first token's vector. */
  pooling: 'mean' | 'cls'
  /** Prepended to every text. */
  prefix: string
  /** Including special tokens. */
  maxTokens: number
}

/** Throws when `findModelFolderProblem` finds a fault, or a file is not JSON. */
export function readModelFolder(folder: string): ModelFolder {
  const fault = findModelFolderProblem(folder)
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

/** Sentence-transformers has a file for it. Of the models without that file, BGE's use the first token. */
function readPooling(folder: string): EmbeddingRecipe['pooling'] {
  const said = readObject(join(folder, '1_Pooling', 'config.json'))
  if (said.pooling_mode_cls_token === true) return 'cls'
  if (said.pooling_mode_mean_tokens === true) return 'mean'
  return namesOf(folder).some(name => /\bbge\b/.test(name)) ? 'cls' : 'mean'
}

/** The default prompt of sentence-transformers, if one is set. E5's models need a prefix but seldom declare it. */
function readPrefix(folder: string): string {
  const { default_prompt_name: chosen, prompts } = readObject(join(folder, 'config_sentence_transformers.json'))
  if (typeof chosen === 'string' && isJsonObject(prompts) && typeof prompts[chosen] === 'string') return prompts[chosen]
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
    return isJsonObject(value) ? value : {}
  } catch (error) {
    throw new Error(`${file} cannot be read`, { cause: error })
  }
}
