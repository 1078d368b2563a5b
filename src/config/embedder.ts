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

/** The folder of the bundled model: part of a checkout, and the installation folder beside a compiled binary. */
export const BUNDLED_MODEL_PATH = isCompiledBinary
  ? './all-minilm-l6-v2'
  : fileURLToPath(new URL('../../vendor/all-minilm-l6-v2', import.meta.url))

export function readEmbedderConfig(read: SettingsReader): EmbedderConfig {
  const choice = read.choice('EMBEDDER', 'auto', ['auto', 'api', 'local', 'builtin'])
  const apiKey = read.optionalText('EMBEDDINGS_API_KEY')
  const api = {
    baseUrl: read.baseUrl('EMBEDDINGS_BASE_URL', 'https://api.openai.com/v1'),
    model: read.text('EMBEDDINGS_MODEL', 'text-embedding-3-small'),
    dimensions: read.integer('EMBEDDINGS_DIMENSIONS', 512, 1, 4_000),
  }
  if (choice === 'api' && apiKey === null) {
    read.problem('EMBEDDINGS_API_KEY', 'set when EMBEDDER=api', 'sk-...')
  }
  if (apiKey !== null && (choice === 'auto' || choice === 'api')) return { kind: 'api', apiKey, ...api }
  const configuredPath = read.optionalText('EMBEDDINGS_PATH')
  const isLocal = choice === 'local' || (choice === 'auto' && configuredPath !== null)
  return isLocal ? readLocalModel(configuredPath, read) : { kind: 'builtin' }
}

/** Checks the configured folder, or the bundled model's when none is configured. */
function readLocalModel(configuredPath: string | null, read: SettingsReader): EmbedderConfig {
  const path = configuredPath ?? BUNDLED_MODEL_PATH
  const folderProblem = findModelFolderProblem(path)
  if (folderProblem !== null) {
    const must =
      configuredPath === null
        ? `set when EMBEDDER=local, because the bundled model is not installed; \`${formatCommand('embedder:install')}\` installs it`
        : `a folder with an ONNX model (model.onnx) and its tokenizer.json; it ${folderProblem}`
    read.problem('EMBEDDINGS_PATH', must, './models/bge-small-en-v1.5')
  }
  return { kind: 'local', path }
}
