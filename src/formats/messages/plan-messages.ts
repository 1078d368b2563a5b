/** Decides whether the cache may be used for a Messages request. */

import { asString, isJsonObject, type JsonObject } from '../json/canonical.ts'

/** `field` refers to state at the provider or causes an action, which prevents caching. */
export type MessagesCachePlan = { isCacheable: false; field: string } | { isCacheable: true }

/** Fields that refer to state at Anthropic, or let Anthropic act. */
const STATEFUL_FIELDS = ['container', 'mcp_servers', 'thread', 'thread_id']
/** Prefixes of the dated types of tools that the client runs. A cached call of such a tool stays valid. */
const CLIENT_TOOLS = /^(?:custom$|bash_|text_editor_|computer_|memory_|browser_toolset_|computer_toolset_)/

export function planMessagesCaching(body: JsonObject): MessagesCachePlan {
  const stateful = STATEFUL_FIELDS.find(field => hasValue(body[field]))
  if (stateful !== undefined) return { isCacheable: false, field: stateful }
  const tools = Array.isArray(body.tools) ? body.tools : []
  const at = tools.findIndex(tool => !isMessagesClientTool(tool))
  return at < 0 ? { isCacheable: true } : { isCacheable: false, field: `tools[${at}].type` }
}

/** Whether the client runs the tool. */
export function isMessagesClientTool(tool: unknown): boolean {
  return isJsonObject(tool) && CLIENT_TOOLS.test(asString(tool.type ?? 'custom'))
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
}
