/** What a request's body names that a provider keeps: files by their ids, and what else is known to the provider alone. */
import { invalidRequest } from '../errors.ts'
import { isJsonObject, type JsonObject } from '../json/json-object.ts'

export interface KeptReference {
  /**
   * Files are bound to the projects that made them; of all else nobody here knows whose it is. `item`: one of a Responses request's
   * that stands for an earlier one, where a provider has Responses itself.
   */
  kind: 'file' | 'item' | 'other'
  id: string
  /** Where it stands: `messages[0].content[1].file.file_id`. */
  field: string
}

/** OpenAI's `file_id`, `input_file_id`, `file_ids`; Anthropic's sources and containers have `file_id` too. */
const FILE = /(?:^|_)file_ids?$/
const OTHER =
  /^(?:vector_store_ids?|container|container_id|previous_response_id|conversation|thread|thread_id|skill_ids?)$/
/** An earlier spoken answer, a stored prompt, a voice that was made: by the `id` of an object; as text they are something else. */
const OTHER_OBJECT = /^(?:audio|prompt|voice)$/
/** Found in JSON that names any, unless it escapes letters, which canonical JSON does not. */
export const MAY_REFER =
  /file_ids?"|"(?:vector_store_ids?|container|container_id|previous_response_id|conversation|thread|thread_id|skill_ids?)"|"(?:audio|prompt|voice)"\s*:\s*\{/

/** Fields that hold what clients think up, or what was told before: a provider reads no ids out of them. */
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
/** As deep as canonical JSON goes. */
const MAX_DEPTH = 128

/** `canonicalBody`: the same body as canonical JSON, where there is any: nearly all requests are done with by a look at it. */
export function findKeptReferences(body: JsonObject, canonicalBody: string | null): KeptReference[] {
  const found = findItems(body.input)
  if (canonicalBody === null || MAY_REFER.test(canonicalBody)) walkObject(body, [], found)
  return found
}

/** Fields of an item that do not say what it holds: its provider knows. */
const OUTSIDE_OF_ITEM = new Set(['id', 'type', 'status', 'summary'])

/** Items of a Responses request that stand for earlier ones; they need not say so. */
function findItems(input: unknown): KeptReference[] {
  if (!Array.isArray(input)) return []
  return input.flatMap((item: unknown, i): KeptReference[] => {
    if (!isJsonObject(item) || typeof item.id !== 'string') return []
    const type = item.type ?? ('role' in item ? 'message' : 'item_reference')
    if (type === 'item_reference') return [{ kind: 'other', id: item.id, field: `input[${i}].id` }]
    // A reasoning without its content, a picture without its bytes.
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

/** A field of a form may be named `mask[file_id]`. */
export function kindOf(name: string): KeptReference['kind'] | null {
  const last = name.replace(/(?:\[\d*\])+$/, '').replace(/^.*\[([^\]]*)\]$/, '$1')
  if (FILE.test(last)) return 'file'
  return OTHER.test(last) ? 'other' : null
}

/** An id, ids, or an object that has one. */
function note(kind: KeptReference['kind'], value: unknown, path: Path, found: KeptReference[]): void {
  const ids = Array.isArray(value) ? value : [isJsonObject(value) ? value.id : value]
  for (const id of ids) if (typeof id === 'string') found.push({ kind, id, field: writePath(path) })
}

/** A model's words to a tool: as JSON text with OpenAI, as an object with Anthropic. */
function isToolUse({ type }: JsonObject): boolean {
  return typeof type === 'string' && type.endsWith('tool_use')
}

/** Names are the client's own: none goes into an error that is no field's of anybody's API. */
function writePath(path: Path): string {
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i === 0 ? '' : '.'}${nameOf(step)}`))
    .join('')
}

function nameOf(step: string): string {
  return /^\w{1,40}$/.test(step) ? step : '…'
}
