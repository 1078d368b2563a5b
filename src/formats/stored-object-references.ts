/** Finds references in a request's body to objects that a provider keeps: file ids, and others that only the provider knows. */
import { isJsonObject, type JsonObject } from './json/canonical.ts'

export interface StoredObjectReference {
  /**
   * Files are bound to the projects that created them; the owner of anything else is unknown to the proxy. `item`: an item of a
   * Responses request that stands for an earlier one, at a provider with a Responses API.
   */
  kind: 'file' | 'item' | 'other'
  id: string
  /** Its position: `messages[0].content[1].file.file_id`. */
  field: string
}

const BRACKET = /[[\]]/
/** What a list's item is named by, or nothing: `[]`. */
const INDEX = /^\d*$/
/** OpenAI's `file_id`, `input_file_id`, `file_ids`; Anthropic's sources and containers have `file_id`, too. */
const FILE = /(?:^|_)file_ids?$/
/** Fields that name something by id. */
export const REFERENCE_FIELDS =
  'vector_store_ids?|container|container_id|previous_response_id|conversation|thread|thread_id|skill_ids?|approval_request_id|part_ids?'
const OTHER = new RegExp(`^(?:${REFERENCE_FIELDS})$`)
/** An earlier audio response, a stored prompt, a custom voice: named by an object's `id`. As text, these fields mean something else. */
export const OBJECT_REFERENCE_FIELDS = 'audio|prompt|voice'
const OTHER_OBJECT = new RegExp(`^(?:${OBJECT_REFERENCE_FIELDS})$`)
/** Matches JSON with any reference, unless letters are escaped; canonical JSON escapes none. */
const MAY_REFER = new RegExp(`file_ids?"|"(?:${REFERENCE_FIELDS})"|"(?:${OBJECT_REFERENCE_FIELDS})"\\s*:\\s*\\{`)

/** Fields with the client's own names, or with earlier output: providers read no ids in them. */
const OPAQUE = new Set([
  'parameters',
  'schema',
  'input_schema',
  'input_examples',
  'properties',
  'arguments',
  'metadata',
  'annotations',
  'citations',
  'results',
])

/** Those of a query, found now unless they were when its body was read. */
export function storedObjectReferencesOf({
  references,
  body,
  canonicalBody,
}: {
  references: readonly StoredObjectReference[] | null
  body: JsonObject
  canonicalBody: string
}): readonly StoredObjectReference[] {
  return references ?? findStoredObjectReferences(body, canonicalBody)
}

const APPROVES = /\.approval_request_id$/

function hasItem(input: unknown, id: string): boolean {
  return Array.isArray(input) && input.some(item => isJsonObject(item) && item.id === id)
}

/** `canonicalBody` is the body as canonical JSON, or null. A quick search in it settles nearly all requests. */
export function findStoredObjectReferences(body: JsonObject, canonicalBody: string | null): StoredObjectReference[] {
  const found = findItems(body.input)
  // raw text: canonical JSON escapes no letter.
  if (canonicalBody === null || MAY_REFER.test(canonicalBody)) walkObject(body, [], found)
  // An approval may concern a request in the same body.
  const isWhole = (id: string) =>
    found.every(each => each.id !== id || APPROVES.test(each.field)) && hasItem(body.input, id)
  return found.filter(({ field, id }) => !APPROVES.test(field) || !isWhole(id))
}

/** Fields of an item without its content. */
const OUTSIDE_OF_ITEM = new Set(['id', 'type', 'status', 'summary'])
/** The content of items whose other fields do not replace it: without it, a provider takes what it keeps. */
const CONTENT: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['reasoning', ['content', 'encrypted_content']],
  ['image_generation_call', ['result']],
])

/** Items of a Responses request that stand for earlier ones; their type is optional. */
function findItems(input: unknown): StoredObjectReference[] {
  if (!Array.isArray(input)) return []
  return input.flatMap((item: unknown, i): StoredObjectReference[] => {
    if (!isJsonObject(item) || typeof item.id !== 'string') return []
    const type = item.type ?? ('role' in item ? 'message' : 'item_reference')
    if (type === 'item_reference') return [{ kind: 'other', id: item.id, field: `input[${i}].id` }]
    // Reasoning without its content, or an image without its bytes.
    return hasNoContent(item) ? [{ kind: 'item', id: item.id, field: `input[${i}].id` }] : []
  })
}

/** Whether an item of a Responses request comes without its content. */
export function hasNoContent(item: JsonObject): boolean {
  if ('role' in item) return false
  const content = CONTENT.get(item.type) ?? Object.keys(item).filter(name => !OUTSIDE_OF_ITEM.has(name))
  return content.every(name => isEmpty(item[name]))
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

type Path = (string | number)[]

function walkObject(object: JsonObject, path: Path, found: StoredObjectReference[]): void {
  for (const [name, value] of Object.entries(object)) {
    path.push(name)
    const kind = referenceKindOf(name) ?? (OTHER_OBJECT.test(name) && isJsonObject(value) ? 'other' : null)
    if (kind) note(kind, value, path, found)
    if (!OPAQUE.has(name) && !(name === 'input' && isToolUse(object))) walk(value, path, found)
    path.pop()
  }
}

function walk(value: unknown, path: Path, found: StoredObjectReference[]): void {
  if (isJsonObject(value)) walkObject(value, path, found)
  if (!Array.isArray(value)) return
  value.forEach((item: unknown, i) => {
    if (typeof item !== 'object') return
    path.push(i)
    walk(item, path, found)
    path.pop()
  })
}

/** No field of an API has a longer name. */
const LONGEST_NAME_CHARS = 256

/** A form's field may be named `mask[file_id]`, or `file_ids[0]`. */
export function referenceKindOf(name: string): StoredObjectReference['kind'] | null {
  if (name.length > LONGEST_NAME_CHARS) return null
  const last = name.split(BRACKET).findLast(step => !INDEX.test(step)) ?? ''
  if (FILE.test(last)) return 'file'
  return OTHER.test(last) ? 'other' : null
}

/** Accepts an id, a list of ids, or an object with one: Anthropic's threads go on from an earlier message. */
function note(kind: StoredObjectReference['kind'], value: unknown, path: Path, found: StoredObjectReference[]): void {
  const ids = Array.isArray(value) ? value : [isJsonObject(value) ? (value.id ?? value.previous_message_id) : value]
  for (const id of ids) if (typeof id === 'string') found.push({ kind, id, field: writePath(path) })
}

/** A model's call of a tool: its input is an object with Anthropic, JSON text with OpenAI. */
function isToolUse({ type }: JsonObject): boolean {
  return typeof type === 'string' && type.endsWith('tool_use')
}

/** Replaces names that are not fields of an API, because the client's own names must not appear in an error. */
function writePath(path: Path): string {
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i === 0 ? '' : '.'}${redactFieldName(step)}`))
    .join('')
}

/** A client's own names must not appear in an error: a field is told of only if its name could be an API's. */
export function redactFieldName(step: string): string {
  return /^\w{1,40}$/.test(step) ? step : '…'
}
