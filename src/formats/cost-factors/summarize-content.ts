/** Finds in a request whatever is not known to be text: what the model may read beyond its bytes, and the tools that its provider runs. */
import { unpackExtras } from '../chat/provider-extras.ts'
import { asObjects, isJsonObject, isPresent, type JsonObject } from '../json/canonical.ts'
import { isMessagesClientTool } from '../messages/plan-messages.ts'
import { isClientTool, readContainerGigabytes } from '../responses/plan-responses.ts'
import { findStoredObjectReferences } from '../stored-object-references.ts'
import * as known from './allow-list.ts'

/** What takes as long as the request is large to find. */
export interface ContentSummary {
  isTextOnly: boolean
  hasUnknownContent: boolean
  hasAudio: boolean
  hasFile: boolean
  /** Objects that stand where tools do. */
  tools: unknown[]
}

export function summarizeContent(endpoint: string, body: JsonObject): ContentSummary {
  const found: ContentSummary = {
    isTextOnly: true,
    hasUnknownContent: false,
    hasAudio: false,
    hasFile: false,
    tools: [],
  }
  for (const [field, value] of Object.entries(body)) {
    if (!isPresent(value)) continue
    if (field === 'tools' && Array.isArray(value)) found.tools.push(...value)
    if (known.CONTENT_FIELDS.has(field)) readContent(value, found)
    else if (known.PROVIDER_STATE_FIELDS.has(field)) found.isTextOnly = false
    else if (!known.KNOWN_REQUEST_FIELDS.has(field)) found.hasUnknownContent = true
  }
  // What stands for an item that its provider keeps is longer than its name.
  if (endpoint === 'responses' && findStoredObjectReferences(body, '').length > 0) found.isTextOnly = false
  found.isTextOnly &&= !found.hasUnknownContent && found.tools.every(isPlainTool)
  return found
}

function readContent(value: unknown, found: ContentSummary): void {
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') readContent(item, found)
  } else if (isJsonObject(value)) readFields(value, found)
}

function readFields(object: JsonObject, found: ContentSummary): void {
  const type = object.type as string
  if (known.AUDIO_TYPES.has(type)) found.hasAudio = true
  if (known.FILE_TYPES.has(type)) found.hasFile = true
  const isText = !isPresent(type) || known.TEXT_TYPES.has(type)
  if (!isText && (known.LARGE_CONTENT_TYPES.has(type) || known.resolveToolPricing(type) !== null)) {
    found.isTextOnly = false
    return
  }
  if (!isText) found.hasUnknownContent = true
  for (const [name, value] of Object.entries(object)) {
    // The input of a call of a client's own tool has names of its own.
    if (!isPresent(value) || known.OPAQUE_FIELDS.has(name) || (name === 'input' && type === 'tool_use')) continue
    if (!known.TEXT_FIELDS.has(name)) found.hasUnknownContent = true
    if (known.AUDIO_TYPES.has(name)) found.hasAudio = true
    if (name === 'tools' && Array.isArray(value)) found.tools.push(...value)
    if (name === 'tool') found.tools.push(value)
    if (typeof value === 'object') readContent(value, found)
    else if (MAY_BE_PACKED.has(name)) readPacked(value, found)
  }
}

/** May hold what an earlier message carried, packed: its model reads what is in it. */
const MAY_BE_PACKED: ReadonlySet<string> = new Set(['encrypted_content', 'signature', 'data'])

function readPacked(text: unknown, found: ContentSummary): void {
  const carried = unpackExtras(text, null)
  if (carried) readContent([carried.fields, ...Object.values(carried.calls)], found)
}

/** Whether the client runs it, and the provider adds nothing to the prompt for it. */
function isPlainTool(tool: unknown): boolean {
  if (!isJsonObject(tool)) return false
  return tool.type === 'function' || tool.type === 'custom' || (!isPresent(tool.type) && isPresent(tool.name))
}

/** A tool that the provider runs. */
export interface HostedTool {
  /** As the request names it, as far as it may be repeated. */
  type: string
  /** Null: it has none that is known. */
  pricing: known.ToolPricing | null
  /** How often the request lets it be called; null where it does not say. */
  maxUses: number | null
  /** Memory of its container in GB; 0 without one. */
  gigabytes: number
  /** The model of its own that the request names. */
  model: string | null
  /** The longest response of that model; null where the request does not say. */
  maxTokens: number | null
}

/** Reads a number that the request bounds itself by. */
export type LimitReader = (value: unknown, field: string) => number | null

/** What stands for some tools of its own counts as one of each. */
export function readHostedTools(
  endpoint: string,
  body: JsonObject,
  { tools }: ContentSummary,
  whole: LimitReader,
): HostedTool[] {
  const isOwn = endpoint === 'responses' ? isClientTool : endpoint === 'messages' ? isMessagesClientTool : isPlainTool
  const count = (list: unknown) => (Array.isArray(list) ? list.length : 0)
  const named = [
    ...(isPresent(body.web_search_options) ? ['web_search'] : []),
    ...asObjects(body.plugins).flatMap(plugin => (isFreePdfParser(plugin) ? [] : ['plugin'])),
    ...Array<string>(count(body.mcp_servers)).fill('mcp_toolset'),
    ...(isJsonObject(body.prompt) ? ['web_search', 'file_search', 'code_interpreter', 'image_generation'] : []),
  ]
  return [
    ...tools.flatMap(tool => (isJsonObject(tool) && !isOwn(tool) ? readTool(endpoint, tool, whole) : [])),
    ...named.map(type => readTool('', { type }, whole)),
  ]
}

function readTool(endpoint: string, tool: JsonObject, whole: LimitReader): HostedTool {
  const type = typeof tool.type === 'string' && /^[\w.:-]{1,64}$/.test(tool.type) ? tool.type : 'unknown'
  return {
    type,
    pricing: known.resolveToolPricing(type),
    // At another endpoint the field is not known, and limits nothing.
    maxUses: endpoint === 'messages' ? whole(tool.max_uses, 'tools[].max_uses') : null,
    gigabytes: endpoint === 'responses' ? readContainerGigabytes(tool) : 0,
    model: typeof tool.model === 'string' ? tool.model : null,
    maxTokens: whole(tool.max_tokens, 'tools[].max_tokens'),
  }
}

/** Whether a plugin is OpenRouter’s reader of PDFs, with an engine that costs nothing. */
export function isFreePdfParser({ id, pdf }: JsonObject): boolean {
  return id === 'file-parser' && isJsonObject(pdf) && known.FREE_PDF_ENGINES.has(pdf.engine as string)
}
