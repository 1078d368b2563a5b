/** Request bodies that are rewritten: as they were sent, and in a worker if they are too long for the event loop. */
import { copyInChunks } from '../event-loop/copy-in-chunks.ts'
import { type JobOwner, NO_OWNER, type WorkerJob, workerPool } from '../event-loop/worker-pool.ts'
import { decodeUtf8, hasInexactNumber, type JsonObject } from '../formats/json/canonical.ts'
import { parseLosslessJson } from '../formats/json/lossless-json.ts'
import type { UpstreamRequest } from './upstream.ts'

export type LongRequest = UpstreamRequest & { bodyBytes: Uint8Array }

export function isLongRequest(request: UpstreamRequest): request is LongRequest {
  return request.bodyBytes !== undefined
}

/** Parsed again when numbers would be rounded, for example a bound in a tool's schema. For short bodies. */
export function parseExactBody({ body, bodyText }: UpstreamRequest): JsonObject {
  return hasInexactNumber(bodyText) ? (parseLosslessJson(bodyText) as JsonObject) : body
}

/** Returns the request with another body, whose text is decoded when it is asked for: not where the request is copied. */
export function replaceLongBody(
  asked: Omit<UpstreamRequest, 'bodyText' | 'body'>,
  body: Record<string, unknown>,
  bodyBytes: Uint8Array,
): LongRequest {
  const bodyText = { get: () => decodeUtf8(bodyBytes), enumerable: false }
  return Object.defineProperty({ ...asked, body, bodyBytes }, 'bodyText', bodyText) as LongRequest
}

/** Runs a job on a copy of a request's body: the request may have to be sent again. */
export async function runBodyJob<Options extends object, Output>(
  job: WorkerJob<Options & { bytes: Uint8Array }, Output>,
  { bodyBytes, owner = NO_OWNER }: Pick<LongRequest, 'bodyBytes'> & { owner?: JobOwner },
  options: Options,
): Promise<Output> {
  const bytes = await copyInChunks(bodyBytes)
  return workerPool.run(job, { ...options, bytes }, { owner, transfer: [bytes.buffer] })
}
