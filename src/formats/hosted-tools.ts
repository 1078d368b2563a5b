/** Omits hosted tools from a request to a provider that cannot run them. The model can respond without them. */

import { asString, isJsonObject, type JsonObject } from './json/canonical.ts'
import { isMessagesClientTool } from './messages/plan-messages.ts'
import { isClientTool } from './responses/plan-responses.ts'

const CLIENT_TOOL_CHECKS = { responses: isClientTool, messages: isMessagesClientTool }
/** Matches types that are safe in a header. */
const TYPE = /^[\w.-]{1,64}$/

export interface HostedToolOmission {
  body: JsonObject
  /** The types of the omitted tools. */
  dropped: string[]
}

/** Omits hosted tools. If the request requires a tool call, nothing is omitted, and the translation rejects unsupported tools. */
export function omitHostedTools(endpoint: keyof typeof CLIENT_TOOL_CHECKS, body: JsonObject): HostedToolOmission {
  const isClientDefined = CLIENT_TOOL_CHECKS[endpoint]
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
