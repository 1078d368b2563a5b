/** Finds what a request refers to at its provider: files by their ids, and other objects that only the provider knows. */
import { invalidRequest } from '../errors.ts'
import { isJsonObject, type JsonObject } from '../json/json-object.ts'

export interface KeptReference {
  /**
   * Files are bound to the projects that made them; the proxy does not know the owner of an `other`. An `item` stands for an
   * earlier item of a Responses request, if its provider has a Responses API.
   */
  kind: 'file' | 'item' | 'other'
  id: string
  /** The path of the field: `messages[0].content[1].file.file_id`. */
  field: string
}

/** OpenAI's `file_id`, `input_file_id`, `file_ids`. Anthropic's sources and containers have `file_id`, too. */
const FILE = /(?:^|_)file_ids?$/
const OTHER =
  /^(?:vector_store_ids?|container|container_id|previous_response_id|conversation|thread|thread_id|skill_ids?)$/
/** An earlier audio response, a stored prompt, or a custom voice: an object with an `id`. As text they mean something else. */
const OTHER_OBJECT = /^(?:audio|prompt|voice)$/
/** Matches JSON with any reference, unless letters are escaped, which canonical JSON never does. */
export const MAY_REFER =
  /file_ids?"|"(?:vector_store_ids?|container|container_id|previous_response_id|conversation|thread|thread_id|skill_ids?)"|"(?:audio|prompt|voice)"\s*:\s*\{/

/** Fields with names that the client invents, or with earlier results. A provider reads no ids in them. */
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
/** The same limit as for canonical JSON. */
const MAX_DEPTH = 128

/** `canonicalBody` is the body as canonical JSON, or null. Nearly all requests need only a regular expression on it. */
export function findKeptReferences(body: JsonObject, canonicalBody: string | null): KeptReference[] {
  const found = findItems(body.input)
  if (canonicalBody === null || MAY_REFER.test(canonicalBody)) walkObject(body, [], found)
  return found
}

/** Fields that are not an item's content. An item with no other field refers to one at its provider. */
const OUTSIDE_OF_ITEM = new Set(['id', 'type', 'status', 'summary'])

/** Items of a Responses request that refer to earlier ones. Their `type` is optional. */
function findItems(input: unknown): KeptReference[] {
  if (!Array.isArray(input)) return []
  return input.flatMap((item: unknown, i): KeptReference[] => {
    if (!isJsonObject(item) || typeof item.id !== 'string') return []
    const type = item.type ?? ('role' in item ? 'message' : 'item_reference')
    if (type === 'item_reference') return [{ kind: 'other', id: item.id, field: `input[${i}].id` }]
    // For example reasoning without its content, or an image without its bytes.
    return isEmptyItem(item) ? [{ kind: 'item', id: item.id, field: `input[${i}].id` }] : []
  })
}

function isEmptyItem(item: JsonObject): boolean {
  if ('role' in item) return false
  return Object.entries(item).every(
    ([name, value]) =>
      OUTSIDE_OF_ITEM.has(name) || value === null || value === '' || (Array.isArray(value) && value.length === 0),
  )
}

type Path = (string | number)[]

function walkObject(object: JsonObject, path: Path, found: KeptReference[]): void {
  for (const [name, value] of Object.entries(object)) {
    path.push(name)
    const kind = kindOf(name) ?? (OTHER_OBJECT.test(name) && isJsonObject(value) ? 'other' : null)
    if (kind) note(kind, value, path, found)
    if (!OPAQUE.has(name) && !(name === 'input' && isToolUse(object))) walk(value, path, found)
    path.pop()
  }
}

function walk(value: unknown, path: Path, found: KeptReference[]): void {
  if (path.length > MAX_DEPTH) throw invalidRequest(`The request is nested more than ${MAX_DEPTH} levels deep.`)
  if (isJsonObject(value)) walkObject(value, path, found)
  if (!Array.isArray(value)) return
  value.forEach((item: unknown, i) => {
    if (typeof item !== 'object') return
    path.push(i)
    walk(item, path, found)
    path.pop()
  })
}

/** Forms may name a field `mask[file_id]`. */
export function kindOf(name: string): KeptReference['kind'] | null {
  const last = name.replace(/(?:\[\d*\])+$/, '').replace(/^.*\[([^\]]*)\]$/, '$1')
  if (FILE.test(last)) return 'file'
  return OTHER.test(last) ? 'other' : null
}

/** `value` is an id, a list of ids, or an object with an id. */
function note(kind: KeptReference['kind'], value: unknown, path: Path, found: KeptReference[]): void {
  const ids = Array.isArray(value) ? value : [isJsonObject(value) ? value.id : value]
  for (const id of ids) if (typeof id === 'string') found.push({ kind, id, field: writePath(path) })
}

/** A tool's input is the model's own text. In OpenAI's API it is JSON text, in Anthropic's an object. */
function isToolUse({ type }: JsonObject): boolean {
  return typeof type === 'string' && type.endsWith('tool_use')
}

/** Clients choose names freely, so the error shows a name only if it looks like an API field. */
function writePath(path: Path): string {
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i === 0 ? '' : '.'}${nameOf(step)}`))
    .join('')
}

function nameOf(step: string): string {
  return /^\w{1,40}$/.test(step) ? step : '…'
}
