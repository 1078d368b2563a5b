/** Creates the configured embedder. */
import { ConfigError, type EmbedderConfig } from '../../config/config.ts'
import type { Log } from '../../telemetry/log.ts'
import { createApiEmbedder } from './api-embedder.ts'
import { createBuiltinEmbedder } from './builtin-embedder.ts'
import type { Embedder } from './embedder.ts'
import { createLocalEmbedder } from './local/local-embedder.ts'

/** Describes each embedder and its alternative, with measured values from docs/semantic-cache.md. */
export const EMBEDDER_DESCRIPTIONS: Record<EmbedderConfig['kind'], string> = {
  builtin:
    'questions are compared by their words, for microseconds each; EMBEDDER=local would serve some 40 % more of them in other words, for 2.4 ms of processor time each and 150 MB of memory',
  local:
    'questions are compared by a model on this machine, for 2.4 ms of processor time each and 150 MB of memory; EMBEDDER=builtin would serve some 30 % fewer of them in other words, for microseconds each',
  api: 'questions are compared by the model at EMBEDDINGS_BASE_URL, which is called for each new one; EMBEDDER=builtin compares their words without a call',
}

/** Throws ConfigError when a local model does not load. */
export async function createEmbedder(config: EmbedderConfig, log: Log): Promise<Embedder> {
  if (config.kind === 'api') return createApiEmbedder(config)
  if (config.kind === 'builtin') return createBuiltinEmbedder()
  try {
    return await createLocalEmbedder(config.path, log)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError([
      `EMBEDDINGS_PATH must be a folder with a model that loads; the one in ${config.path} does not: ${reason}. Example: EMBEDDER=builtin`,
    ])
  }
}
