/** The embedder that the configuration names. */
import type { EmbedderConfig } from '../config.ts'
import { createApiEmbedder } from './api.ts'
import { createBuiltinEmbedder } from './builtin.ts'
import type { Embedder } from './embedder.ts'

export function createEmbedder(config: EmbedderConfig): Embedder {
  return config.kind === 'api' ? createApiEmbedder(config) : createBuiltinEmbedder()
}
