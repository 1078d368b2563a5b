/** Sets echoed fields: to defaults in responses that are stored and shared, and to the request's values in what its client gets. */
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

type Owner = Pick<ResolvedKey, 'project_id'>

const WRITE = new WorkerJob<ResponseRewrite, Uint8Array>(new URL('./jobs.ts', import.meta.url), 'writeEchoedFieldsJob')

/** A worker rewrites a long response. */
function rewriteFields(rewrite: ResponseRewrite, owner: number): Uint8Array | Promise<Uint8Array> {
  return rewrite.bytes.length > MAX_MAIN_THREAD_BYTES
    ? workerPool.run(WRITE, rewrite, { owner })
    : writeEchoedFields(rewrite)
}

function rewriteEvent(bytes: Uint8Array, fields: JsonObject, owner: number): Uint8Array | Promise<Uint8Array> {
  return mayContainResponse(bytes) ? rewriteFields({ bytes, isEvent: true, fields }, owner) : bytes
}

/** Returns a provider's response as it is stored and shared. */
export function resetEchoedFields(bytes: Uint8Array, { project_id: owner }: Owner): Uint8Array | Promise<Uint8Array> {
  return rewriteFields({ bytes, isEvent: false, fields: ECHOED_FIELDS }, owner)
}

/** Like `resetEchoedFields`, for an event of a stream. */
export function resetEchoedFieldsInEvent(
  bytes: Uint8Array,
  { project_id: owner }: Owner,
): Uint8Array | Promise<Uint8Array> {
  return rewriteEvent(bytes, ECHOED_FIELDS, owner)
}

/** Returns the body as a stream. */
export function streamOf(body: ProxyResponse['body']): ReadableStream<Uint8Array> {
  return body instanceof ReadableStream ? body : new Blob([body]).stream()
}

/** Returns the response with the fields that its client gets. Responses with errors are unchanged. */
export async function restoreEchoedFields(
  fields: JsonObject,
  response: ProxyResponse,
  { project_id: owner }: Owner,
): Promise<ProxyResponse> {
  const { status, headers } = response
  if (status !== 200) return response
  const body = typeof response.body === 'string' ? Buffer.from(response.body) : response.body
  if (headers['content-type']?.includes('text/event-stream')) {
    return { ...response, body: transformEvents(streamOf(body), event => rewriteEvent(event, fields, owner)) }
  }
  const bytes = body instanceof ReadableStream ? new Uint8Array(await new Response(body).arrayBuffer()) : body
  return { ...response, body: await rewriteFields({ bytes, isEvent: false, fields }, owner) }
}
