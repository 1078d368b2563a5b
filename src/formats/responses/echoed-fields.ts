/**
 * Echoed fields are fields that a response repeats from its request although they do not affect it otherwise. Cached responses contain their
 * defaults; each client gets its own values.
 */
import { isJsonObject, type JsonObject } from '../json/canonical.ts'
import { tryParseLosslessJson } from '../json/lossless-json.ts'
import { pickPresent } from '../json/read-fields.ts'
import { parseSseEvent } from '../sse/sse.ts'

/** The echoed fields with OpenAI's defaults. */
export const ECHOED_FIELDS: JsonObject = { metadata: {}, prompt_cache_key: null, safety_identifier: null, user: null }

/** Returns the values for the response to this request; null for a request without echoed fields. */
export function readEchoedFields(body: JsonObject): JsonObject | null {
  const values = pickPresent(body, Object.keys(ECHOED_FIELDS))
  return Object.keys(values).length === 0 ? null : { ...ECHOED_FIELDS, ...values }
}

export interface ResponseRewrite {
  /** A plain response, or one event of a stream. */
  bytes: Uint8Array
  isEvent: boolean
  fields: JsonObject
}

const RESPONSE_KEY = Buffer.from('"response"')

/** Whether an event may contain a response. Few events of a stream do. */
export function mayContainResponse(event: Uint8Array): boolean {
  return Buffer.prototype.indexOf.call(event as Buffer, RESPONSE_KEY) >= 0
}

/** Sets the echoed fields that the response has. Returns bytes without a response unchanged. */
export function writeEchoedFields({ bytes, isEvent, fields }: ResponseRewrite): Uint8Array {
  const event = isEvent ? parseSseEvent(bytes) : { event: null, data: new TextDecoder().decode(bytes) }
  const whole = event && readObject(event.data)
  const response = isEvent ? whole?.response : whole
  if (!event || !isJsonObject(response)) return bytes
  for (const field of Object.keys(fields)) if (Object.hasOwn(response, field)) response[field] = fields[field]
  const data = JSON.stringify(whole)
  const name = event.event === null ? '' : `event: ${event.event}\n`
  return new TextEncoder().encode(isEvent ? `${name}data: ${data}\n\n` : data)
}

/** Returns null for anything but a JSON object. Other code validates the provider's bytes. */
function readObject(text: string): JsonObject | null {
  const value = tryParseLosslessJson(text)
  return isJsonObject(value) ? value : null
}
