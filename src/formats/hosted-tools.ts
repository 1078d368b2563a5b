/** Takes out of a request the tools that a provider would have to run, for a provider that cannot: the model can do without them. */

import { asString, isJsonObject, type JsonObject } from './json/canonical.ts'
import { isMessagesClientTool } from './messages/plan-messages.ts'
import { isClientTool } from './responses/plan-responses.ts'

const IS_OWN = { responses: isClientTool, messages: isMessagesClientTool }
/** What a type looks like that may be repeated in a header. */
const TYPE = /^[\w.-]{1,64}$/

export interface HostedToolOmission {
  body: JsonObject
  /** The types of the tools that were left out. */
  dropped: string[]
}

/** Where the request demands a tool, nothing is left out: the translation refuses what it does not know. */
export function omitHostedTools(endpoint: keyof typeof IS_OWN, body: JsonObject): HostedToolOmission {
  const isOwn = IS_OWN[endpoint]
  const { tools, tool_choice: choice } = body
  if (!Array.isArray(tools) || !leavesChoice(choice)) return { body, dropped: [] }
  const hosted = tools.filter(tool => isJsonObject(tool) && !isOwn(tool))
  if (hosted.length === 0) return { body, dropped: [] }
  const dropped = [...new Set(hosted.map(formatTypeForHeader))]
  // The others keep their places, by which errors name them.
  const kept = tools.map(tool => (hosted.includes(tool) ? undefined : tool))
  return { body: { ...body, tools: kept, ...narrowed(choice, isOwn) }, dropped }
}

/** For a header. */
export function formatTypeForHeader({ type }: JsonObject): string {
  return TYPE.test(asString(type)) ? asString(type) : 'unknown'
}

function leavesChoice(choice: unknown): boolean {
  const given = isJsonObject(choice) ? (choice.type === 'allowed_tools' ? choice.mode : choice.type) : choice
  return [undefined, null, 'auto', 'none'].includes(given as string | null | undefined)
}

/** A list of the tools that are allowed names hosted ones, too. */
function narrowed(choice: unknown, isOwn: (tool: unknown) => boolean): JsonObject {
  if (!isJsonObject(choice) || !Array.isArray(choice.tools)) return {}
  const tools = choice.tools.filter(isOwn)
  return { tool_choice: tools.length > 0 ? { ...choice, tools } : 'none' }
}
