/** Reads what may be at any place of a request's body: references to stored objects, and content that costs more than its text. */
import { unpackExtras } from './chat/provider-extras.ts'
import { isPlainTool } from './hosted-tools.ts'
import { isJsonObject, isPresent, type JsonObject } from './json/canonical.ts'
import { type Visitor, walkJson } from './json/walk.ts'
import * as known from './known-content.ts'
import { findStoredObjectReferences, type StoredObjectReference } from './stored-object-references.ts'

export interface BodyFacts {
  /** The stored objects that the body refers to. */
  readonly references: readonly StoredObjectReference[]
  readonly content: ContentSummary
}

export interface ContentSummary {
  /** Whether the model reads only the body's text. */
  isTextOnly: boolean
  hasUnknownContent: boolean
  hasAudio: boolean
  hasFile: boolean
  /** All values in places where tools are expected. */
  tools: unknown[]
}

/** Reads the facts as data that a worker can return. */
export function readBodyFacts(body: JsonObject): BodyFacts {
  const references = findStoredObjectReferences(body)
  return { references, content: summarizeContent(body, references) }
}

/** Reads each fact when it is first needed: a hit needs none, and a miss without budgets only the references. */
export class LazyBodyFacts implements BodyFacts {
  readonly #body: JsonObject
  #references: BodyFacts['references'] | undefined
  #content: ContentSummary | undefined

  constructor(body: JsonObject) {
    this.#body = body
  }

  get references(): BodyFacts['references'] {
    this.#references ??= findStoredObjectReferences(this.#body)
    return this.#references
  }

  get content(): ContentSummary {
    this.#content ??= summarizeContent(this.#body, this.references)
    return this.#content
  }
}

/** Finds content that is not known to be plain text. */
export function summarizeContent(body: JsonObject, references: BodyFacts['references']): ContentSummary {
  const found: ContentSummary = {
    isTextOnly: true,
    hasUnknownContent: false,
    hasAudio: false,
    hasFile: false,
    tools: [],
  }
  const visit: Visitor = (value, name, container, path) => {
    if (typeof name === 'string') {
      if (!isPresent(value)) return false
      if (name === 'tools' && Array.isArray(value)) found.tools.push(...value)
      const isRead = path.length === 0 ? readRequestField(name, found) : readField(name, container as JsonObject, found)
      if (!isRead) return false
      if (name === 'tool' && path.length > 0) found.tools.push(value)
      // The model reads the unpacked extras of a previous message.
      const extras = PACKABLE_FIELDS.has(name) ? unpackExtras(value, null) : null
      if (extras) walkJson({ messages: [extras.fields, ...Object.values(extras.calls)] }, visit)
    }
    return !isJsonObject(value) || readType(value.type as string, found)
  }
  walkJson(body, visit)
  // A reference stands for a stored item, which is longer than its id.
  if (found.hasUnknownContent || references.length > 0 || !found.tools.every(isPlainTool)) found.isTextOnly = false
  return found
}

/** Fields that may contain packed provider extras. */
const PACKABLE_FIELDS: ReadonlySet<string> = new Set(['encrypted_content', 'signature', 'data'])

/** Returns whether the model reads the field of a request. */
function readRequestField(name: string, found: ContentSummary): boolean {
  if (known.CONTENT_FIELDS.has(name)) return true
  if (known.PROVIDER_STATE_FIELDS.has(name)) found.isTextOnly = false
  else if (!known.KNOWN_REQUEST_FIELDS.has(name)) found.hasUnknownContent = true
  return false
}

/** Returns whether the field of a message, an item, a part or a tool may contain more than text. */
function readField(name: string, { type }: JsonObject, found: ContentSummary): boolean {
  // The input of a client tool's call has names that the client chose.
  if (known.OPAQUE_FIELDS.has(name) || (name === 'input' && type === 'tool_use')) return false
  if (!known.TEXT_FIELDS.has(name)) found.hasUnknownContent = true
  if (known.AUDIO_TYPES.has(name)) found.hasAudio = true
  return true
}

/** Returns whether the fields of an object of this type are read, too. */
function readType(type: string, found: ContentSummary): boolean {
  if (!isPresent(type) || known.TEXT_TYPES.has(type)) return true
  if (known.AUDIO_TYPES.has(type)) found.hasAudio = true
  if (known.FILE_TYPES.has(type)) found.hasFile = true
  const isKnown = known.LARGE_CONTENT_TYPES.has(type) || known.resolveToolPricing(type) !== null
  if (isKnown) found.isTextOnly = false
  else found.hasUnknownContent = true
  return !isKnown
}
