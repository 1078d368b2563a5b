/** Rewrites request bodies without rounding numbers, and in a worker when a body is too long for the event loop. */
import { copyInChunks } from '../event-loop/chunks.ts'
import { type JobOwner, NO_OWNER, WorkerJob, workerPool } from '../event-loop/worker-pool.ts'
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

/** The new values of fields. The value undefined removes a field. */
export type FieldChanges = Readonly<Record<string, unknown>>

export interface SetFieldsInput {
  bytes: Uint8Array
  changes: FieldChanges
}

const SET_FIELDS = new WorkerJob<SetFieldsInput, Uint8Array>(new URL('./jobs.ts', import.meta.url), 'setFieldsJob')

/** Returns the request with the changes. All other fields stay as the client wrote them. */
export async function applyFieldChanges(request: UpstreamRequest, changes: FieldChanges): Promise<UpstreamRequest> {
  if (Object.keys(changes).length === 0) return request
  const entries = Object.entries({ ...request.body, ...changes })
  const body = Object.fromEntries(entries.filter(([, value]) => value !== undefined))
  if (isLongRequest(request)) return replaceLongBody(request, body, await setFieldsInLongBody(request, changes))
  return { ...request, body, bodyText: setFields(request.bodyText, changes) }
}

/** Returns the JSON text with the changes. */
export function setFields(bodyText: string, changes: FieldChanges): string {
  return JSON.stringify({ ...(parseLosslessJson(bodyText) as JsonObject), ...changes })
}

export function setFieldsInBytes(bytes: Uint8Array, changes: FieldChanges): Uint8Array {
  return new TextEncoder().encode(setFields(new TextDecoder().decode(bytes), changes))
}

/** Returns a copy of a long body with the changes. A worker creates it. */
export function setFieldsInLongBody(
  request: { bodyBytes: Uint8Array; owner?: number },
  changes: FieldChanges,
): Promise<Uint8Array> {
  return runBodyJob(SET_FIELDS, request, { changes })
}
