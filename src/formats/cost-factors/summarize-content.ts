/** Summarizes the content of a request that is not known to be plain text, and reads its hosted tools. */
import { unpackExtras } from '../chat/provider-extras.ts'
import { asObjects, isJsonObject, isPresent, type JsonObject } from '../json/canonical.ts'
import { isMessagesClientTool } from '../messages/plan-messages.ts'
import { isClientTool, readContainerGigabytes } from '../responses/plan-responses.ts'
import { findStoredObjectReferences } from '../stored-object-references.ts'
import * as known from './allow-list.ts'

/** The cost factors that take time in proportion to the request's size. */
export interface ContentSummary {
  isTextOnly: boolean
  hasUnknownContent: boolean
  hasAudio: boolean
  hasFile: boolean
  /** All values in places where tools are expected. */
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
  // A reference stands for a stored item, which is longer than its id.
  if (endpoint === 'responses' && findStoredObjectReferences(body).length > 0) found.isTextOnly = false
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
    // The input of a client tool's call has names that the client chose.
    if (!isPresent(value) || known.OPAQUE_FIELDS.has(name) || (name === 'input' && type === 'tool_use')) continue
    if (!known.TEXT_FIELDS.has(name)) found.hasUnknownContent = true
    if (known.AUDIO_TYPES.has(name)) found.hasAudio = true
    if (name === 'tools' && Array.isArray(value)) found.tools.push(...value)
    if (name === 'tool') found.tools.push(value)
    if (typeof value === 'object') readContent(value, found)
    else if (PACKABLE_FIELDS.has(name)) readPacked(value, found)
  }
}

/** Fields that may contain packed provider extras of a previous message. The model reads the unpacked extras. */
const PACKABLE_FIELDS: ReadonlySet<string> = new Set(['encrypted_content', 'signature', 'data'])

function readPacked(text: unknown, found: ContentSummary): void {
  const extras = unpackExtras(text, null)
  if (extras) readContent([extras.fields, ...Object.values(extras.calls)], found)
}

/** Whether the client runs the tool, and the provider adds nothing to the prompt for it. */
function isPlainTool(tool: unknown): boolean {
  if (!isJsonObject(tool)) return false
  return tool.type === 'function' || tool.type === 'custom' || (!isPresent(tool.type) && isPresent(tool.name))
}

/** A tool that the provider runs. */
export interface HostedTool {
  /** The type in the request if it is safe to repeat, else `unknown`. */
  type: string
  /** Null if the tool has no known price. */
  pricing: known.ToolPricing | null
  /** Maximum number of calls; null if the request sets none. */
  maxUses: number | null
  /** Memory of its container in GB; 0 without one. */
  gigabytes: number
  /** The model that the tool uses, if the request names one. */
  model: string | null
  /** Maximum length of that model's response in tokens; null if the request sets none. */
  maxTokens: number | null
}

/** Reads a number by which the request limits its cost. */
export type LimitReader = (value: unknown, field: string) => number | null

/** Returns the hosted tools of a request. A field that stands for several tools, such as a stored prompt, counts as one of each. */
export function readHostedTools(
  endpoint: string,
  body: JsonObject,
  { tools }: ContentSummary,
  readLimit: LimitReader,
): HostedTool[] {
  const isClientDefined =
    endpoint === 'responses' ? isClientTool : endpoint === 'messages' ? isMessagesClientTool : isPlainTool
  const count = (list: unknown) => (Array.isArray(list) ? list.length : 0)
  const impliedTypes = [
    ...(isPresent(body.web_search_options) ? ['web_search'] : []),
    ...asObjects(body.plugins).flatMap(plugin => (isFreePdfParser(plugin) ? [] : ['plugin'])),
    ...Array<string>(count(body.mcp_servers)).fill('mcp_toolset'),
    ...(isJsonObject(body.prompt) ? ['web_search', 'file_search', 'code_interpreter', 'image_generation'] : []),
  ]
  return [
    ...tools.flatMap(tool => (isJsonObject(tool) && !isClientDefined(tool) ? readTool(endpoint, tool, readLimit) : [])),
    ...impliedTypes.map(type => readTool('', { type }, readLimit)),
  ]
}

function readTool(endpoint: string, tool: JsonObject, readLimit: LimitReader): HostedTool {
  const type = typeof tool.type === 'string' && /^[\w.:-]{1,64}$/.test(tool.type) ? tool.type : 'unknown'
  return {
    type,
    pricing: known.resolveToolPricing(type),
    // Other endpoints do not know the field, so that it limits nothing.
    maxUses: endpoint === 'messages' ? readLimit(tool.max_uses, 'tools[].max_uses') : null,
    gigabytes: endpoint === 'responses' ? readContainerGigabytes(tool) : 0,
    model: typeof tool.model === 'string' ? tool.model : null,
    maxTokens: readLimit(tool.max_tokens, 'tools[].max_tokens'),
  }
}

/** Whether a plugin is OpenRouter’s PDF parser with an engine that is free of charge. */
export function isFreePdfParser({ id, pdf }: JsonObject): boolean {
  return id === 'file-parser' && isJsonObject(pdf) && known.FREE_PDF_ENGINES.has(pdf.engine as string)
}
