/**
 * Provider extras are the fields of an assistant's message and its calls that chat does not define. Other formats do not support them, but
 * vendors require them unchanged in the next request. They are packed into one opaque text with a MAC, which the client sends back.
 */
import { timingSafeEqual } from 'node:crypto'
import {
  asObjects,
  isBlank,
  isJsonObject,
  type JsonObject,
  parseJsonObject,
  readField,
  writeField,
} from '../json/canonical.ts'
import { findStoredObjectReferences } from '../stored-object-references.ts'
import { mergeDelta } from './merge-delta.ts'

export interface ProviderExtras {
  /** Extras of the message. */
  fields: JsonObject
  /** Extras of its calls, by call id. */
  calls: JsonObject
}

/** Chat's own fields, which translations support or omit knowingly. */
const MESSAGE_FIELDS: ReadonlySet<string> = new Set(
  'role content refusal name annotations audio tool_calls function_call tool_call_id'.split(' '),
)
const CALL_FIELDS: ReadonlySet<string> = new Set(['id', 'index', 'type', 'function', 'custom'])
const FUNCTION_FIELDS: ReadonlySet<string> = new Set(['name', 'arguments'])

/** Prefix of a packed text. No vendor's signature begins with it. */
const PACKED_PREFIX = 'mp1.'
const MAC_CHARS = 22
/** Maximum size of packed extras. The longest reasoning takes half of it. Larger extras, such as an image, are omitted. */
const MAX_BYTES = 1024 * 1024
/** Maximum size of all pieces of a response's extras. A stream repeats names and types with each piece. */
const MAX_PIECES_CHARS = 8 * MAX_BYTES
/** Maximum nesting of the unpacked JSON, which comes from a client. */
const MAX_DEPTH = 64
const MAX_PACKED_CHARS = PACKED_PREFIX.length + MAC_CHARS + Math.ceil((MAX_BYTES * 4) / 3)

/** Returns the extras of a message or a delta, without those of its calls. */
export function extrasOfMessage(message: JsonObject): JsonObject {
  return pickUnknownFields(message, MESSAGE_FIELDS)
}

/** Returns the provider-specific fields of a tool call, or of one delta of it. */
export function extrasOfCall(call: JsonObject): JsonObject {
  const extras = pickUnknownFields(call, CALL_FIELDS)
  const called = readField(call, 'function')
  const within = isJsonObject(called) ? pickUnknownFields(called, FUNCTION_FIELDS) : {}
  return Object.keys(within).length > 0 ? { ...extras, function: within } : extras
}

/** Returns the names of all extras of a message and its calls. */
export function listExtraNames(message: JsonObject): string[] {
  const calls = asObjects(message.tool_calls).map(extrasOfCall)
  const withinCalls = calls.flatMap(call => Object.keys({ ...call, ...(isJsonObject(call.function) && call.function) }))
  return message.role === 'assistant' ? [...Object.keys(extrasOfMessage(message)), ...withinCalls] : []
}

/** Returns the fields that are not in `known`. Omits references to stored objects, whose owner is checked only in the request itself. */
function pickUnknownFields(object: JsonObject, known: ReadonlySet<string>): JsonObject {
  const extras: JsonObject = {}
  for (const name in object) {
    if (known.has(name) || isEmptyValue(object[name])) continue
    if (findStoredObjectReferences({ within: { [name]: object[name] } }).length === 0)
      writeField(extras, name, object[name])
  }
  return extras
}

export function isEmptyValue(value: unknown): boolean {
  return isBlank(value) || value === false || (isNested(value) && Object.values(value).every(isEmptyValue))
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** The extras of a response that have arrived and were not taken yet. */
export class BufferedProviderExtras {
  fields: JsonObject = {}
  #calls: JsonObject = {}
  #pieces = 0
  readonly #omitted = new Set<string>()

  addMessage(delta: JsonObject): void {
    for (const [name, value] of Object.entries(extrasOfMessage(delta))) {
      if (this.#fits(name, value)) mergeDelta(this.fields, { [name]: structuredClone(value) })
      else delete this.fields[name]
    }
  }

  addCall(id: string, fragment: JsonObject): void {
    const extras = extrasOfCall(fragment)
    if (Object.keys(extras).length === 0) return
    if (this.#fits(`call ${id}`, extras)) mergeDelta(this.#calls, { [id]: structuredClone(extras) })
    else delete this.#calls[id]
  }

  take(): ProviderExtras {
    const taken = { fields: this.fields, calls: this.#calls }
    this.fields = {}
    this.#calls = {}
    return taken
  }

  /** The names of the extras that were not used. */
  get names(): string[] {
    return [...Object.keys(this.fields), ...(Object.keys(this.#calls).length > 0 ? ['tool_calls'] : [])]
  }

  get isEmpty(): boolean {
    return Object.keys(this.fields).length === 0 && Object.keys(this.#calls).length === 0
  }

  /** Whether there are extras, and their signature is complete. */
  get isComplete(): boolean {
    return !this.isEmpty && !this.isSignaturePending
  }

  /**
   * Whether reasoning details have begun but their signature has not arrived. Anthropic's blocks arrive whole. Aggregators' details arrive in
   * pieces, of which the signature is the last: it may follow the text, or even the response's content.
   */
  get isSignaturePending(): boolean {
    const { reasoning_details: details } = this.fields
    if (!Array.isArray(details)) return false
    const last: unknown = details.at(-1)
    return !isJsonObject(last) || (last.type !== 'reasoning.encrypted' && !last.signature)
  }

  /** Whether a piece fits into the limit. An extra that was once too long stays omitted, because a part of it would be invalid. */
  #fits(name: string, value: unknown): boolean {
    const chars = JSON.stringify(value).length
    if (this.#pieces + chars > MAX_PIECES_CHARS) this.#omitted.add(name)
    if (this.#omitted.has(name)) return false
    this.#pieces += chars
    return true
  }
}

/**
 * Keys for the MAC of packed extras, derived for one provider and its model. The first creates MACs; all of them verify. A text that was
 * packed for another model, or by anyone else, has no valid MAC.
 */
export type ExtrasKeys = readonly string[]

/** Packs extras up to the size limit, small ones first. Returns null if there are none, or without a key. */
export function packExtras({ fields, calls }: ProviderExtras, [key]: ExtrasKeys): string | null {
  if (key === undefined) return null
  const each = [...measureExtras('fields', fields), ...measureExtras('calls', calls)].sort((a, b) => a.bytes - b.bytes)
  let remainingBytes = MAX_BYTES - 64
  const packed = each.filter(({ bytes }) => {
    const fits = bytes <= remainingBytes
    if (fits) remainingBytes -= bytes
    return fits
  })
  if (packed.length === 0) return null
  const json = Buffer.from(JSON.stringify({ fields: sortExtras(packed, 'fields'), calls: sortExtras(packed, 'calls') }))
  return PACKED_PREFIX + macOf(json, key) + json.toString('base64url')
}

interface SizedExtra {
  kind: 'fields' | 'calls'
  name: string
  value: unknown
  bytes: number
}

function measureExtras(kind: SizedExtra['kind'], fields: JsonObject): SizedExtra[] {
  return Object.entries(fields).map(([name, value]) => {
    return { kind, name, value, bytes: Buffer.byteLength(JSON.stringify({ [name]: value })) }
  })
}

/** Sorts extras by name, because their order differs between plain and streamed responses. */
function sortExtras(packed: readonly SizedExtra[], kind: SizedExtra['kind']): JsonObject {
  const sorted = packed.filter(each => each.kind === kind).sort((a, b) => (a.name < b.name ? -1 : 1))
  return Object.fromEntries(sorted.map(({ name, value }) => [name, value]))
}

/**
 * Reverses `packExtras`. Returns null for any other text, such as a vendor's signature, and for a text whose MAC none of the keys verifies. If
 * `keys` is null, the MAC is not verified, which suffices to estimate the content.
 */
export function unpackExtras(text: unknown, keys: ExtrasKeys | null): ProviderExtras | null {
  if (typeof text !== 'string' || !isPackedProviderExtras(text) || text.length > MAX_PACKED_CHARS) return null
  const jsonStart = PACKED_PREFIX.length + MAC_CHARS
  const json = Buffer.from(text.slice(jsonStart), 'base64url')
  const mac = Buffer.from(text.slice(PACKED_PREFIX.length, jsonStart))
  const isVerified = keys === null || keys.some(key => isEqual(mac, Buffer.from(macOf(json, key))))
  return isVerified ? readPackedJson(json) : null
}

/** Whether the text has the prefix of packed extras, for any model. */
export function isPackedProviderExtras(text: unknown): boolean {
  return typeof text === 'string' && text.startsWith(PACKED_PREFIX)
}

/** Reads packed JSON strictly, so that the result contains no more than a client could send in a chat message. */
function readPackedJson(json: Buffer): ProviderExtras | null {
  const packed = parseJsonObject(json.toString())
  if (packed === undefined || isDeeperThan(packed, MAX_DEPTH)) return null
  const { fields, calls } = packed
  const read: ProviderExtras = { fields: isJsonObject(fields) ? extrasOfMessage(fields) : {}, calls: {} }
  for (const [id, call] of Object.entries(isJsonObject(calls) ? calls : {}))
    if (isJsonObject(call)) writeField(read.calls, id, extrasOfCall(call))
  return read
}

function isDeeperThan(value: object, levels: number): boolean {
  return levels === 0 || Object.values(value).some(each => isNested(each) && isDeeperThan(each, levels - 1))
}

function macOf(json: Buffer, key: string): string {
  return new Bun.CryptoHasher('sha256', key).update(json).digest('base64url').slice(0, MAC_CHARS)
}

function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}
