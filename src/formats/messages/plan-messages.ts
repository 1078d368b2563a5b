/** Decides whether the cache may be used for a Messages request. */
import { findHostedTool } from '../hosted-tools.ts'
import type { JsonObject } from '../json/canonical.ts'

/** `field` refers to state at the provider or causes an action, which prevents caching. */
export type MessagesCachePlan = { isCacheable: false; field: string } | { isCacheable: true }

/** Fields that refer to state at Anthropic, or let Anthropic act. */
const STATEFUL_FIELDS = ['container', 'mcp_servers', 'thread', 'thread_id']

export function planMessagesCaching(body: JsonObject): MessagesCachePlan {
  const field = STATEFUL_FIELDS.find(name => hasValue(body[name])) ?? findHostedTool('messages', body.tools)
  return field === null ? { isCacheable: true } : { isCacheable: false, field }
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
}
