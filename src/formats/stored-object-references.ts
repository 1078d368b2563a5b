/** Finds references in a request's body to objects stored at a provider: file ids, and others that only the provider can resolve. */
import { isEmpty, isJsonObject, type JsonObject } from './json/canonical.ts'
import { type Path, walkJson } from './json/walk.ts'
import { OPAQUE_FIELDS, TEXT_FIELDS } from './known-content.ts'

export interface StoredObjectReference {
  /**
   * `file`: a file, which belongs to the project that created it. `item`: an item of a Responses request that stands for a previous one at a
   * provider with a Responses API. `other`: any other object, whose owner the proxy does not know.
   */
  kind: 'file' | 'item' | 'other'
  id: string
  /** The path of the field, such as `messages[0].content[1].file.file_id`. */
  field: string
}

const BRACKET = /[[\]]/
/** Matches the index of a list item, or the empty index of `[]`. */
const INDEX = /^\d*$/
/** Matches OpenAI's `file_id`, `input_file_id` and `file_ids`, and `file_id` in Anthropic's sources and containers. */
const FILE = /(?:^|_)file_ids?$/
/** Fields that contain the id of an object, or a list of ids. */
export const REFERENCE_FIELDS: ReadonlySet<string> = new Set(
  `vector_store_id vector_store_ids container container_id previous_response_id conversation thread thread_id skill_id skill_ids
  approval_request_id part_id part_ids`.split(/\s+/),
)
/** Fields whose value, if it is an object, refers by `id` to a previous audio response, a stored prompt or a custom voice. */
export const OBJECT_REFERENCE_FIELDS: ReadonlySet<string> = new Set(['audio', 'prompt', 'voice'])

/** Fields with names that the client chose, or with previous output. Providers read no ids in them. */
const OPAQUE: ReadonlySet<string> = new Set([...OPAQUE_FIELDS, 'properties'])

const APPROVAL_FIELD = /\.approval_request_id$/

function hasItem(input: unknown, id: string): boolean {
  return Array.isArray(input) && input.some(item => isJsonObject(item) && item.id === id)
}

/** Returns all references in a body. */
export function findStoredObjectReferences(body: JsonObject): StoredObjectReference[] {
  const found = findItems(body.input)
  walkJson(body, (value, name, container, path) => {
    if (typeof name === 'number') return true
    if (PLAIN_FIELDS.has(name)) return name !== 'input' || !isToolUse(container as JsonObject)
    const kind = referenceKindOf(name) ?? (OBJECT_REFERENCE_FIELDS.has(name) && isJsonObject(value) ? 'other' : null)
    if (kind) addReferences(kind, value, [...path, name], found)
    return !OPAQUE.has(name)
  })
  // An approval may refer to a request for approval in the same body.
  const isWhole = (id: string) =>
    found.every(each => each.id !== id || APPROVAL_FIELD.test(each.field)) && hasItem(body.input, id)
  return found.filter(({ field, id }) => !APPROVAL_FIELD.test(field) || !isWhole(id))
}

/** Fields of an item that are not its content. */
const NON_CONTENT_FIELDS = new Set(['id', 'type', 'status', 'summary'])
/** The content fields of items. If they are missing, the provider uses the stored item, whatever the other fields contain. */
const CONTENT: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['reasoning', ['content', 'encrypted_content']],
  ['image_generation_call', ['result']],
])

/** Finds items of a Responses request that stand for previous ones. Their type is optional. */
function findItems(input: unknown): StoredObjectReference[] {
  if (!Array.isArray(input)) return []
  return input.flatMap((item: unknown, i): StoredObjectReference[] => {
    if (!isJsonObject(item) || typeof item.id !== 'string') return []
    const type = item.type ?? ('role' in item ? 'message' : 'item_reference')
    if (type === 'item_reference') return [{ kind: 'other', id: item.id, field: `input[${i}].id` }]
    // The item is reasoning without its content, or an image without its bytes.
    return hasNoContent(item) ? [{ kind: 'item', id: item.id, field: `input[${i}].id` }] : []
  })
}

/** Whether an item of a Responses request lacks its content. */
export function hasNoContent(item: JsonObject): boolean {
  if ('role' in item) return false
  const content = CONTENT.get(item.type) ?? Object.keys(item).filter(name => !NON_CONTENT_FIELDS.has(name))
  return content.every(name => isEmpty(item[name]))
}

/** Maximum length of a field name. No field of an API has a longer name. */
const MAX_NAME_CHARS = 256

/** Returns the kind of object that a field refers to; null for other fields. Form fields such as `mask[file_id]` and `file_ids[0]` are supported. */
export function referenceKindOf(name: string): StoredObjectReference['kind'] | null {
  if (name.length > MAX_NAME_CHARS) return null
  const last = BRACKET.test(name) ? (name.split(BRACKET).findLast(step => !INDEX.test(step)) ?? '') : name
  if (FILE.test(last)) return 'file'
  return REFERENCE_FIELDS.has(last) ? 'other' : null
}

/** Most fields of a body. They are neither references nor opaque, which is quicker to look up than to match. */
const PLAIN_FIELDS: ReadonlySet<string> = new Set(
  [...TEXT_FIELDS].filter(
    name => referenceKindOf(name) === null && !OBJECT_REFERENCE_FIELDS.has(name) && !OPAQUE.has(name),
  ),
)

/** Adds the references in a value: an id, a list of ids, or an object with one, such as Anthropic's threads with a `previous_message_id`. */
function addReferences(
  kind: StoredObjectReference['kind'],
  value: unknown,
  path: Path,
  found: StoredObjectReference[],
): void {
  const ids = Array.isArray(value) ? value : [isJsonObject(value) ? (value.id ?? value.previous_message_id) : value]
  for (const id of ids) if (typeof id === 'string') found.push({ kind, id, field: formatPath(path) })
}

/** Whether an object is an Anthropic tool call, whose `input` is an object. OpenAI's is JSON text. */
function isToolUse({ type }: JsonObject): boolean {
  return typeof type === 'string' && type.endsWith('tool_use')
}

/** Formats a path for an error. Replaces names that the client may have chosen, which must not appear in errors. */
export function formatPath(path: Path): string {
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i === 0 ? '' : '.'}${redactFieldName(step)}`))
    .join('')
}

/** Returns the name if it could be a field of an API, else `…`, because names that a client chose must not appear in errors. */
export function redactFieldName(step: string): string {
  return /^\w{1,40}$/.test(step) ? step : '…'
}
