/**
 * Fields that a response repeats from its request although they change nothing else in it. What is stored and shared has their defaults;
 * each client gets its own.
 */
import { isJsonObject, type JsonObject } from '../json/canonical.ts'
import { tryParseLosslessJson } from '../json/lossless-json.ts'
import { pickPresent } from '../json/read-fields.ts'
import { parseSseEvent } from '../sse/sse.ts'

/** With OpenAI's defaults. */
export const ECHOED_FIELDS: JsonObject = { metadata: {}, prompt_cache_key: null, safety_identifier: null, user: null }

/** The values that this request's response is to have; null for a request that has none of the fields. */
export function readEchoedFields(body: JsonObject): JsonObject | null {
  const given = pickPresent(body, Object.keys(ECHOED_FIELDS))
  return Object.keys(given).length === 0 ? null : { ...ECHOED_FIELDS, ...given }
}

export interface ResponseRewrite {
  /** A plain response, or one event of a stream. */
  bytes: Uint8Array
  isEvent: boolean
  fields: JsonObject
}

const RESPONSE_KEY = Buffer.from('"response"')

/** Whether it may hold a response: few events of a stream do. */
export function mayContainResponse(event: Uint8Array): boolean {
  return Buffer.prototype.indexOf.call(event as Buffer, RESPONSE_KEY) >= 0
}

/** Writes those fields that the response has. What is no response is returned unchanged. */
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

/** What a provider's bytes are is checked elsewhere. */
function readObject(text: string): JsonObject | null {
  const value = tryParseLosslessJson(text)
  return isJsonObject(value) ? value : null
}
