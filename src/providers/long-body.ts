/** Rewrites request bodies without rounding numbers, and in a worker when a body is too long for the event loop. */
import { copyInChunks } from '../event-loop/chunks.ts'
import { type JobOwner, NO_OWNER, type WorkerJob, workerPool } from '../event-loop/worker-pool.ts'
import { decodeUtf8, hasInexactNumber, type JsonObject } from '../formats/json/canonical.ts'
import { parseLosslessJson } from '../formats/json/lossless-json.ts'
import type { UpstreamRequest } from './upstream.ts'

export type LongRequest = UpstreamRequest & { bodyBytes: Uint8Array }

export function isLongRequest(request: UpstreamRequest): request is LongRequest {
  return request.bodyBytes !== undefined
}

/** Returns the parsed body of a short request. It is parsed again when numbers were rounded, for example a limit in a tool's schema. */
export function parseLosslessBody({ body, bodyText }: UpstreamRequest): JsonObject {
  return hasInexactNumber(bodyText) ? (parseLosslessJson(bodyText) as JsonObject) : body
}

/** Returns the request with another body. The body's text is decoded when it is read, but not when the request is copied. */
export function replaceLongBody(
  request: Omit<UpstreamRequest, 'bodyText' | 'body'>,
  body: Record<string, unknown>,
  bodyBytes: Uint8Array,
): LongRequest {
  const bodyText = { get: () => decodeUtf8(bodyBytes), enumerable: false }
  return Object.defineProperty({ ...request, body, bodyBytes }, 'bodyText', bodyText) as LongRequest
}

/** Runs a job on a copy of a request's body, because the request may have to be sent again. */
export async function runBodyJob<Options extends object, Output>(
  job: WorkerJob<Options & { bytes: Uint8Array }, Output>,
  { bodyBytes, owner = NO_OWNER }: Pick<LongRequest, 'bodyBytes'> & { owner?: JobOwner },
  options: Options,
): Promise<Output> {
  const bytes = await copyInChunks(bodyBytes)
  return workerPool.run(job, { ...options, bytes }, { owner, transfer: [bytes.buffer] })
}
