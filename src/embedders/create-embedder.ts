/** Creates the configured embedder. */
import { ConfigError, type EmbedderConfig } from '../config.ts'
import type { Log } from '../telemetry/log.ts'
import { createApiEmbedder } from './api.ts'
import { createBuiltinEmbedder } from './builtin.ts'
import type { Embedder } from './embedder.ts'
import { openLocalEmbedder } from './local/local.ts'

/** Throws ConfigError when a local model does not load. */
export async function createEmbedder(config: EmbedderConfig, log: Log): Promise<Embedder> {
  if (config.kind === 'api') return createApiEmbedder(config)
  if (config.kind === 'builtin') return createBuiltinEmbedder()
  try {
    return await openLocalEmbedder(config.path, log)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError([
      `EMBEDDINGS_PATH must be a folder with a model that loads; the one in ${config.path} does not: ${reason}. Example: EMBEDDER=builtin`,
    ])
  }
}
