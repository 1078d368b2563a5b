/** Reads the tools of a request that its provider runs, and omits them for a provider that cannot. */
import type { TranslatableEndpoint } from './endpoint.ts'
import { asObjects, asString, isJsonObject, isPresent, type JsonObject } from './json/canonical.ts'
import * as known from './known-content.ts'

/** Tools of /v1/responses that the client runs. */
const RESPONSES_CLIENT_TOOLS: ReadonlySet<unknown> = new Set([
  'function',
  'custom',
  'namespace',
  'apply_patch',
  'local_shell',
])
/** Tools of /v1/messages that the client runs, by the prefixes of their dated types. */
const MESSAGES_CLIENT_TOOLS = /^(?:custom$|bash_|text_editor_|computer_|memory_|browser_toolset_|computer_toolset_)/

/** Whether the client runs the tool. A cached call of such a tool stays valid. A shell runs at the client only if its environment is `local`. */
export function isClientTool(endpoint: string, tool: unknown): boolean {
  if (!isJsonObject(tool)) return false
  const { type, environment } = tool
  if (endpoint === 'messages') return MESSAGES_CLIENT_TOOLS.test(asString(type ?? 'custom'))
  if (endpoint !== 'responses') return isPlainTool(tool)
  return type === 'shell' ? isJsonObject(environment) && environment.type === 'local' : RESPONSES_CLIENT_TOOLS.has(type)
}

/** Returns the field with the type of the first hosted tool, which fetches changing data or acts; null if there is none. */
export function findHostedTool(endpoint: string, tools: unknown): string | null {
  const at = Array.isArray(tools) ? tools.findIndex(tool => !isClientTool(endpoint, tool)) : -1
  return at < 0 ? null : `tools[${at}].type`
}

/** Matches types that are safe in a header. */
const TYPE = /^[\w.-]{1,64}$/

export interface HostedToolOmission {
  body: JsonObject
  /** The types of the omitted tools. */
  dropped: string[]
}

/** Omits hosted tools. If the request requires a tool call, nothing is omitted, and the translation rejects unsupported tools. */
export function omitHostedTools(endpoint: TranslatableEndpoint, body: JsonObject): HostedToolOmission {
  const isClientDefined = (tool: unknown) => isClientTool(endpoint, tool)
  const { tools, tool_choice: choice } = body
  if (!Array.isArray(tools) || !isOptionalChoice(choice)) return { body, dropped: [] }
  const hosted = tools.filter(tool => isJsonObject(tool) && !isClientDefined(tool))
  if (hosted.length === 0) return { body, dropped: [] }
  const dropped = [...new Set(hosted.map(formatTypeForHeader))]
  // The other tools keep their indexes, which errors contain.
  const kept = tools.map(tool => (hosted.includes(tool) ? undefined : tool))
  return { body: { ...body, tools: kept, ...narrowToolChoice(choice, isClientDefined) }, dropped }
}

/** Returns a tool's type if it is safe in a header, else `unknown`. */
export function formatTypeForHeader({ type }: JsonObject): string {
  return TYPE.test(asString(type)) ? asString(type) : 'unknown'
}

function isOptionalChoice(choice: unknown): boolean {
  const given = isJsonObject(choice) ? (choice.type === 'allowed_tools' ? choice.mode : choice.type) : choice
  return [undefined, null, 'auto', 'none'].includes(given as string | null | undefined)
}

/** Removes hosted tools from a `tool_choice` with a list of allowed tools. */
function narrowToolChoice(choice: unknown, isClientDefined: (tool: unknown) => boolean): JsonObject {
  if (!isJsonObject(choice) || !Array.isArray(choice.tools)) return {}
  const tools = choice.tools.filter(isClientDefined)
  return { tool_choice: tools.length > 0 ? { ...choice, tools } : 'none' }
}

/** Whether the client runs the tool, and the provider adds nothing to the prompt for it. */
export function isPlainTool(tool: unknown): boolean {
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

/** Returns the hosted tools of a request: those of `tools`, which may be at any place of the body, and those that fields imply. A field that stands for several tools, such as a stored prompt, counts as one of each. */
export function readHostedTools(
  endpoint: string,
  body: JsonObject,
  tools: readonly unknown[],
  readLimit: LimitReader,
): HostedTool[] {
  const count = (list: unknown) => (Array.isArray(list) ? list.length : 0)
  const impliedTypes = [
    ...(isPresent(body.web_search_options) ? ['web_search'] : []),
    ...asObjects(body.plugins).flatMap(plugin => (isFreePdfParser(plugin) ? [] : ['plugin'])),
    ...Array<string>(count(body.mcp_servers)).fill('mcp_toolset'),
    ...(isJsonObject(body.prompt) ? ['web_search', 'file_search', 'code_interpreter', 'image_generation'] : []),
  ]
  return [
    ...asObjects(tools).flatMap(tool => (isClientTool(endpoint, tool) ? [] : readTool(endpoint, tool, readLimit))),
    ...impliedTypes.map(type => readTool('', { type }, readLimit)),
  ]
}

/** Returns the memory of the tool's container in GB; 0 without a container. */
export function readContainerMemoryGigabytes({ type, container, environment }: JsonObject): number {
  if (type !== 'code_interpreter' && type !== 'shell') return 0
  const { memory_limit: limit } = [container, environment].find(isJsonObject) ?? {}
  return Math.max(1, Number.parseInt(asString(limit), 10) || 0)
}

function readTool(endpoint: string, tool: JsonObject, readLimit: LimitReader): HostedTool {
  const type = typeof tool.type === 'string' && /^[\w.:-]{1,64}$/.test(tool.type) ? tool.type : 'unknown'
  return {
    type,
    pricing: known.resolveToolPricing(type),
    // Other endpoints do not know the field, so that it limits nothing.
    maxUses: endpoint === 'messages' ? readLimit(tool.max_uses, 'tools[].max_uses') : null,
    gigabytes: endpoint === 'responses' ? readContainerMemoryGigabytes(tool) : 0,
    model: typeof tool.model === 'string' ? tool.model : null,
    maxTokens: readLimit(tool.max_tokens, 'tools[].max_tokens'),
  }
}

/** Whether a plugin is OpenRouter’s PDF parser with an engine that is free of charge. */
export function isFreePdfParser({ id, pdf }: JsonObject): boolean {
  return id === 'file-parser' && isJsonObject(pdf) && known.FREE_PDF_ENGINES.has(pdf.engine as string)
}
