/**
 * Provider extras: the fields of an assistant's message and of its calls that chat does not define. Other formats have no place for them, but
 * vendors require them unchanged in the next request. They are packed into one opaque text with a MAC, which a client sends back unread.
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
  /** Of the message. */
  fields: JsonObject
  /** Of its calls, by their ids. */
  calls: JsonObject
}

/** Translations have a place for these, or leave them out knowingly. */
const OWN_OF_MESSAGE: ReadonlySet<string> = new Set(
  'role content refusal name annotations audio tool_calls function_call tool_call_id'.split(' '),
)
const OWN_OF_CALL: ReadonlySet<string> = new Set(['id', 'index', 'type', 'function', 'custom'])
const OWN_OF_FUNCTION: ReadonlySet<string> = new Set(['name', 'arguments'])

/** Begins a packed text. No vendor's own signature begins with it. */
const PACKED = 'mp1.'
const MAC_CHARS = 22
/** Of what is packed together. The longest thoughts have half of it; what is beyond it, such as a picture, is left out. */
const MOST_BYTES = 1024 * 1024
/** Of the pieces of all that one answer carries: a stream repeats names and types with each. */
const MOST_PIECES_CHARS = 8 * MOST_BYTES
/** Of what is nested in a client's text. */
const MOST_LEVELS = 64
const LONGEST_PACKED = PACKED.length + MAC_CHARS + Math.ceil((MOST_BYTES * 4) / 3)

/** What a message, or a delta of one, carried; without its calls. */
export function extrasOfMessage(message: JsonObject): JsonObject {
  return takeOthers(message, OWN_OF_MESSAGE)
}

/** The same of a call, or of a fragment of one. */
export function extrasOfCall(call: JsonObject): JsonObject {
  const carried = takeOthers(call, OWN_OF_CALL)
  const called = readField(call, 'function')
  const within = isJsonObject(called) ? takeOthers(called, OWN_OF_FUNCTION) : {}
  return Object.keys(within).length > 0 ? { ...carried, function: within } : carried
}

/** The names of all that a message and its calls carried. */
export function listExtraNames(message: JsonObject): string[] {
  const calls = asObjects(message.tool_calls).map(extrasOfCall)
  const withinCalls = calls.flatMap(call => Object.keys({ ...call, ...(isJsonObject(call.function) && call.function) }))
  return message.role === 'assistant' ? [...Object.keys(extrasOfMessage(message)), ...withinCalls] : []
}

/** Without what names something that is kept elsewhere: whose it is would be checked in the request itself alone. */
function takeOthers(object: JsonObject, own: ReadonlySet<string>): JsonObject {
  const others: JsonObject = {}
  for (const name in object) {
    if (own.has(name) || saysNothing(object[name])) continue
    if (findStoredObjectReferences({ within: { [name]: object[name] } }, null).length === 0)
      writeField(others, name, object[name])
  }
  return others
}

function saysNothing(value: unknown): boolean {
  return isBlank(value) || value === false || (isNested(value) && Object.values(value).every(saysNothing))
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** What an answer carried, as far as it has arrived and was not taken. */
export class PendingExtras {
  fields: JsonObject = {}
  #calls: JsonObject = {}
  #pieces = 0
  readonly #leftOut = new Set<string>()

  addMessage(delta: JsonObject): void {
    for (const [name, value] of Object.entries(extrasOfMessage(delta))) {
      if (this.#hasRoom(name, value)) mergeDelta(this.fields, { [name]: structuredClone(value) })
      else delete this.fields[name]
    }
  }

  addCall(id: string, fragment: JsonObject): void {
    const carried = extrasOfCall(fragment)
    if (Object.keys(carried).length === 0) return
    if (this.#hasRoom(`call ${id}`, carried)) mergeDelta(this.#calls, { [id]: structuredClone(carried) })
    else delete this.#calls[id]
  }

  take(): ProviderExtras {
    const taken = { fields: this.fields, calls: this.#calls }
    this.fields = {}
    this.#calls = {}
    return taken
  }

  /** The names of what was not taken. */
  get names(): string[] {
    return [...Object.keys(this.fields), ...(Object.keys(this.#calls).length > 0 ? ['tool_calls'] : [])]
  }

  get isEmpty(): boolean {
    return Object.keys(this.fields).length === 0 && Object.keys(this.#calls).length === 0
  }

  /** Whether there is something, and all of it. */
  get isComplete(): boolean {
    return !this.isEmpty && !this.isSignaturePending
  }

  /**
   * Whether a proof that has begun is still growing. Anthropic's blocks arrive whole. Aggregators' details come in pieces, of which the
   * signature is the last: it may follow the text, or even the response's content.
   */
  get isSignaturePending(): boolean {
    const { reasoning_details: details } = this.fields
    if (!Array.isArray(details)) return false
    const last: unknown = details.at(-1)
    return !isJsonObject(last) || (last.type !== 'reasoning.encrypted' && !last.signature)
  }

  /** What has once been too long stays out: a part of it would not be what was sent. */
  #hasRoom(name: string, value: unknown): boolean {
    const chars = JSON.stringify(value).length
    if (this.#pieces + chars > MOST_PIECES_CHARS) this.#leftOut.add(name)
    if (this.#leftOut.has(name)) return false
    this.#pieces += chars
    return true
  }
}

/**
 * Keys for the MAC of packed extras, derived for one provider and its model: the first creates MACs, each of them verifies. A text that was
 * packed for another model, or by anybody else, has no valid MAC.
 */
export type ExtrasKeys = readonly string[]

/** Packs the small before the large, as far as there is room. Null for nothing, or without a key. */
export function packExtras({ fields, calls }: ProviderExtras, [key]: ExtrasKeys): string | null {
  if (key === undefined) return null
  const each = [...listed('fields', fields), ...listed('calls', calls)].sort((a, b) => a.bytes - b.bytes)
  let left = MOST_BYTES - 64
  const kept = each.filter(({ bytes }) => {
    const fits = bytes <= left
    if (fits) left -= bytes
    return fits
  })
  if (kept.length === 0) return null
  const json = Buffer.from(JSON.stringify({ fields: sortedOf(kept, 'fields'), calls: sortedOf(kept, 'calls') }))
  return PACKED + macOf(json, key) + json.toString('base64url')
}

interface Listed {
  kind: 'fields' | 'calls'
  name: string
  value: unknown
  bytes: number
}

function listed(kind: Listed['kind'], fields: JsonObject): Listed[] {
  return Object.entries(fields).map(([name, value]) => {
    return { kind, name, value, bytes: Buffer.byteLength(JSON.stringify({ [name]: value })) }
  })
}

/** The order of fields differs between plain and streamed answers. */
function sortedOf(kept: readonly Listed[], kind: Listed['kind']): JsonObject {
  const own = kept.filter(each => each.kind === kind).sort((a, b) => (a.name < b.name ? -1 : 1))
  return Object.fromEntries(own.map(({ name, value }) => [name, value]))
}

/**
 * Reverses `packExtras`. Null for any other text, such as a vendor's own signature, and for one whose MAC none of the keys verifies. `keys`
 * null: the MAC is not verified, for reading what a text would hold.
 */
export function unpackExtras(text: unknown, keys: ExtrasKeys | null): ProviderExtras | null {
  if (typeof text !== 'string' || !isPackedExtras(text) || text.length > LONGEST_PACKED) return null
  const beginsAt = PACKED.length + MAC_CHARS
  const json = Buffer.from(text.slice(beginsAt), 'base64url')
  const mac = Buffer.from(text.slice(PACKED.length, beginsAt))
  const isVerified = keys === null || keys.some(key => isEqual(mac, Buffer.from(macOf(json, key))))
  return isVerified ? readCarried(json) : null
}

/** Whether the text claims to have been packed here, for some model. */
export function isPackedExtras(text: unknown): boolean {
  return typeof text === 'string' && text.startsWith(PACKED)
}

/** Read strictly even so: its values are no more than what a client could send as a chat message. */
function readCarried(json: Buffer): ProviderExtras | null {
  const packed = parseJsonObject(json.toString())
  if (packed === undefined || isDeeper(packed, MOST_LEVELS)) return null
  const { fields, calls } = packed
  const read: ProviderExtras = { fields: isJsonObject(fields) ? extrasOfMessage(fields) : {}, calls: {} }
  for (const [id, call] of Object.entries(isJsonObject(calls) ? calls : {}))
    if (isJsonObject(call)) writeField(read.calls, id, extrasOfCall(call))
  return read
}

function isDeeper(value: object, levels: number): boolean {
  return levels === 0 || Object.values(value).some(each => isNested(each) && isDeeper(each, levels - 1))
}

function macOf(json: Buffer, key: string): string {
  return new Bun.CryptoHasher('sha256', key).update(json).digest('base64url').slice(0, MAC_CHARS)
}

function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}
