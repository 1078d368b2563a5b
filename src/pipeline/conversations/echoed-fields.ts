/** Gives what is stored and shared the default fields, and each client its own: only in requests that have such fields. */
import { MAX_MAIN_THREAD_BYTES, WorkerJob, workerPool } from '../../event-loop/worker-pool.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import {
  ECHOED_FIELDS,
  mayContainResponse,
  type ResponseRewrite,
  writeEchoedFields,
} from '../../formats/responses/echoed-fields.ts'
import { transformEvents } from '../../formats/sse/split-events.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import type { ProxyResponse } from '../request/request.ts'

type Asking = Pick<ResolvedKey, 'project_id'>

const WRITE = new WorkerJob<ResponseRewrite, Uint8Array>(new URL('../jobs.ts', import.meta.url), 'writeEchoedFieldsJob')

/** A long one is written by a worker. */
function write(asked: ResponseRewrite, owner: number): Uint8Array | Promise<Uint8Array> {
  return asked.bytes.length > MAX_MAIN_THREAD_BYTES ? workerPool.run(WRITE, asked, { owner }) : writeEchoedFields(asked)
}

function writeInEvents(
  stream: ReadableStream<Uint8Array>,
  fields: JsonObject,
  owner: number,
): ReadableStream<Uint8Array> {
  return transformEvents(stream, bytes =>
    mayContainResponse(bytes) ? write({ bytes, isEvent: true, fields }, owner) : bytes,
  )
}

/** A provider's answer as it is stored and shared. */
export function resetEchoedFields(bytes: Uint8Array, { project_id: owner }: Asking): Uint8Array | Promise<Uint8Array> {
  return write({ bytes, isEvent: false, fields: ECHOED_FIELDS }, owner)
}

/** The same for an event of a stream. */
export function resetEchoedFieldsInEvent(
  bytes: Uint8Array,
  { project_id: owner }: Asking,
): Uint8Array | Promise<Uint8Array> {
  return mayContainResponse(bytes) ? write({ bytes, isEvent: true, fields: ECHOED_FIELDS }, owner) : bytes
}

/** The response as its client gets it. */
export async function restoreEchoedFields(
  fields: JsonObject,
  response: ProxyResponse,
  { project_id: owner }: Asking,
): Promise<ProxyResponse> {
  const { status, headers } = response
  if (status !== 200) return response
  const body = typeof response.body === 'string' ? Buffer.from(response.body) : response.body
  if (headers['content-type']?.includes('text/event-stream')) {
    const stream = body instanceof ReadableStream ? body : new Blob([body]).stream()
    return { ...response, body: writeInEvents(stream, fields, owner) }
  }
  const bytes = body instanceof ReadableStream ? new Uint8Array(await new Response(body).arrayBuffer()) : body
  return { ...response, body: await write({ bytes, isEvent: false, fields }, owner) }
}
