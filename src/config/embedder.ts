/** Settings of the embedder. */
import { fileURLToPath } from 'node:url'
import { isCompiledBinary } from '../event-loop/self-command.ts'
import { findModelFolderProblem } from './model-files.ts'
import { formatCommand } from './operator-command.ts'
import type { SettingsReader } from './settings-reader.ts'

export type EmbedderConfig =
  | { kind: 'builtin' }
  | { kind: 'api'; baseUrl: string; apiKey: string; model: string; dimensions: number }
  | { kind: 'local'; path: string }

/** The proxy's own model: in a checkout already, else where it is installed unless another folder is named. */
export const BUNDLED_MODEL_PATH = isCompiledBinary
  ? './all-minilm-l6-v2'
  : fileURLToPath(new URL('../../vendor/all-minilm-l6-v2', import.meta.url))

export function readEmbedderConfig(read: SettingsReader, problems: string[]): EmbedderConfig {
  const choice = read.choice('EMBEDDER', 'auto', ['auto', 'api', 'local', 'builtin'])
  const apiKey = read.optionalText('EMBEDDINGS_API_KEY')
  const api = {
    baseUrl: read.baseUrl('EMBEDDINGS_BASE_URL', 'https://api.openai.com/v1'),
    model: read.text('EMBEDDINGS_MODEL', 'text-embedding-3-small'),
    dimensions: read.integer('EMBEDDINGS_DIMENSIONS', 512, 1, 4_000),
  }
  if (choice === 'api' && apiKey === null) {
    problems.push('EMBEDDINGS_API_KEY must be set when EMBEDDER=api. Example: EMBEDDINGS_API_KEY=sk-...')
  }
  if (apiKey !== null && (choice === 'auto' || choice === 'api')) return { kind: 'api', apiKey, ...api }
  const named = read.optionalText('EMBEDDINGS_PATH')
  const isLocal = choice === 'local' || (choice === 'auto' && named !== null)
  return isLocal ? readLocal(named, problems) : { kind: 'builtin' }
}

/** Checks the folder that was named, else the bundled model's. */
function readLocal(named: string | null, problems: string[]): EmbedderConfig {
  const path = named ?? BUNDLED_MODEL_PATH
  const fault = findModelFolderProblem(path)
  if (fault !== null) {
    problems.push(
      named === null
        ? `EMBEDDINGS_PATH must be set when EMBEDDER=local, as the proxy's own model is not there; \`${formatCommand('embedder:install')}\` brings it. Example: EMBEDDINGS_PATH=./models/bge-small-en-v1.5`
        : `EMBEDDINGS_PATH must be a folder with an ONNX model (model.onnx) and its tokenizer.json; it ${fault}. Example: EMBEDDINGS_PATH=./models/bge-small-en-v1.5`,
    )
  }
  return { kind: 'local', path }
}
