/** Gives what is stored and shared the default fields, and each client its own: only in requests that have such fields. */
import { Job, LONGEST_ON_LOOP, offLoop } from '../event-loop/off-loop.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import { holdsResponse, OWN_FIELDS, type ToRewrite, writeOwnFields } from '../formats/responses/own-fields.ts'
import { changeEvents } from '../formats/sse/split-events.ts'
import type { Account } from '../postgres/admit.ts'
import type { ProxyResponse } from './request.ts'

type Asking = Pick<Account, 'project_id'>

const WRITE = new Job<ToRewrite, Uint8Array>(new URL('./jobs.ts', import.meta.url), 'writeOwn')

/** A long one is written by a worker. */
function write(asked: ToRewrite, owner: number): Uint8Array | Promise<Uint8Array> {
  return asked.bytes.length > LONGEST_ON_LOOP ? offLoop.run(WRITE, asked, { owner }) : writeOwnFields(asked)
}

function writeInEvents(
  stream: ReadableStream<Uint8Array>,
  fields: JsonObject,
  owner: number,
): ReadableStream<Uint8Array> {
  return changeEvents(stream, bytes => (holdsResponse(bytes) ? write({ bytes, isEvent: true, fields }, owner) : bytes))
}

/** A provider's answer as it is stored and shared. */
export function shareBytes(bytes: Uint8Array, { project_id: owner }: Asking): Uint8Array | Promise<Uint8Array> {
  return write({ bytes, isEvent: false, fields: OWN_FIELDS }, owner)
}

/** The same for an event of a stream. */
export function shareEvent(bytes: Uint8Array, { project_id: owner }: Asking): Uint8Array | Promise<Uint8Array> {
  return holdsResponse(bytes) ? write({ bytes, isEvent: true, fields: OWN_FIELDS }, owner) : bytes
}

/** The response as its client gets it. */
export async function withOwnFields(
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
