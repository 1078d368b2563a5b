/** Vectors of prompts: the same text is embedded once, and an embedder that fails costs a match, never an answer. */
import type { Embedder } from '../embedders/embedder.ts'
import type { Database } from '../postgres/database.ts'
import { findPromptVector, registerEmbeddingSpace, storePromptVector } from '../postgres/prompt-vectors.ts'
import type { Log } from '../telemetry/log.ts'
import { withinTimeLimit } from '../time-limit.ts'

const EMBED_TIME_LIMIT_MS = 2_000
const VECTOR_TTL_SECONDS = 30 * 86_400
const MAX_IN_MEMORY = 10_000

export interface PromptVector {
  spaceId: number
  values: Float32Array
}

export interface PromptVectors {
  /** Whether a vector costs next to nothing. */
  readonly isFree: boolean
  /** The vector of a normalized text, or null where the embedder failed or took too long. */
  find(projectId: number, normalized: string, textHash: string): Promise<PromptVector | null>
}

export async function createPromptVectors(database: Database, embedder: Embedder, log: Log): Promise<PromptVectors> {
  const spaceId = await registerEmbeddingSpace(database, embedder.space)
  const recent = new Map<string, Promise<Float32Array>>()

  /** Paid vectors are kept; those that cost microseconds are made again. */
  async function embed(projectId: number, normalized: string, textHash: string): Promise<Float32Array> {
    const name = { projectId, spaceId, textHash }
    const known = await findPromptVector(database, name).catch(() => null)
    if (known) return known
    const vector = await embedder.embed(normalized, AbortSignal.timeout(EMBED_TIME_LIMIT_MS))
    storePromptVector(database, name, vector, VECTOR_TTL_SECONDS).catch(error => {
      log.warn({ error: String(error) }, 'a prompt vector could not be stored')
    })
    return vector
  }

  function embedOnce(projectId: number, normalized: string, textHash: string): Promise<Float32Array> {
    const name = `${projectId} ${textHash}`
    const known = recent.get(name)
    if (known) return known
    const asked = embed(projectId, normalized, textHash)
    recent.set(name, asked)
    asked.catch(() => recent.delete(name))
    if (recent.size > MAX_IN_MEMORY) {
      const oldest = recent.keys().next()
      if (!oldest.done) recent.delete(oldest.value)
    }
    return asked
  }

  return {
    isFree: embedder.isFree,
    async find(projectId, normalized, textHash) {
      try {
        const values = embedder.isFree
          ? await embedder.embed(normalized)
          : await withinTimeLimit(EMBED_TIME_LIMIT_MS, embedOnce(projectId, normalized, textHash))
        return { spaceId, values }
      } catch (error) {
        log.warn({ error: error instanceof Error ? error.message : String(error) }, 'a prompt could not be embedded')
        return null
      }
    },
  }
}
