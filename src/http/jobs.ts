/** Worker jobs for long bodies of Gemini's API. */
import type { JobResult } from '../event-loop/worker-pool.ts'
import type { ProxyResponse } from '../pipeline/request/request.ts'
import { type EmbeddingsInput, type GeminiBodyInput, translateGeminiBody, writeEmbeddings } from './gemini-api.ts'

/** Translates a request. */
export function translateGeminiBodyJob(input: GeminiBodyInput): JobResult<Uint8Array> {
  return { output: new Uint8Array(translateGeminiBody(input)) }
}

/** Writes a response with embeddings. */
export function writeGeminiEmbeddingsJob(input: EmbeddingsInput): JobResult<Pick<ProxyResponse, 'status' | 'body'>> {
  return { output: writeEmbeddings(input) }
}
