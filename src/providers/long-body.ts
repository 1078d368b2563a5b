/** Request bodies that are rewritten: as they were sent, and in a worker if they are too long for the event loop. */
import { copyInTurns } from '../event-loop/copy-in-turns.ts'
import { type Job, NOBODY, type Owner, offLoop } from '../event-loop/off-loop.ts'
import { decodeUtf8, hasInexactNumber, type JsonObject } from '../formats/json/canonical.ts'
import { parseExactly } from '../formats/json/exact-json.ts'
import type { UpstreamRequest } from './upstream.ts'

export type LongRequest = UpstreamRequest & { bodyBytes: Uint8Array }

export function isLong(request: UpstreamRequest): request is LongRequest {
  return request.bodyBytes !== undefined
}

/** Parsed again when numbers would be rounded, for example a bound in a tool's schema. For short bodies. */
export function readExactBody({ body, bodyText }: UpstreamRequest): JsonObject {
  return hasInexactNumber(bodyText) ? (parseExactly(bodyText) as JsonObject) : body
}

/** Returns the request with another body, whose text is decoded when it is asked for: not where the request is copied. */
export function withLongBody(
  asked: Omit<UpstreamRequest, 'bodyText' | 'body'>,
  body: Record<string, unknown>,
  bodyBytes: Uint8Array,
): LongRequest {
  const bodyText = { get: () => decodeUtf8(bodyBytes), enumerable: false }
  return Object.defineProperty({ ...asked, body, bodyBytes }, 'bodyText', bodyText) as LongRequest
}

/** Runs a job on a copy of a request's body: the request may have to be sent again. */
export async function runOnBody<Options extends object, Output>(
  job: Job<Options & { bytes: Uint8Array }, Output>,
  { bodyBytes, owner = NOBODY }: Pick<LongRequest, 'bodyBytes'> & { owner?: Owner },
  options: Options,
): Promise<Output> {
  const bytes = await copyInTurns(bodyBytes)
  return offLoop.run(job, { ...options, bytes }, { owner, transfer: [bytes.buffer] })
}
