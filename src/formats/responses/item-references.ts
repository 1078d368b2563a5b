/** Finds items of a Responses request that refer to items of previous responses, or lack their reasoning. */
import { isJsonObject, type JsonObject } from '../json/canonical.ts'
import { hasNoContent } from '../stored-object-references.ts'

/** Forms of the ids of translated responses and their items. Providers' response ids have other lengths. */
const RESPONSE_ID = /^resp_[0-9a-f]{44}$/
const ITEM_ID = /^[a-z]{2,3}_([0-9a-f]{44})i?[0-9a-f]{4}$/

/** Returns the base id of the translated response to which an item belongs; null for any other id. */
export function responseBaseIdOf(itemId: unknown): string | null {
  return typeof itemId === 'string' ? (ITEM_ID.exec(itemId)?.[1] ?? null) : null
}

/** Whether the proxy created the id. */
export function isProxyResponseId(id: unknown): id is string {
  return typeof id === 'string' && RESPONSE_ID.test(id)
}

/** Whether the request refers to a response or to an item of one. */
export function hasPreviousReferences(body: JsonObject): boolean {
  return (
    typeof body.previous_response_id === 'string' ||
    findItemReferences(body).length > 0 ||
    findCallsWithoutReasoning(body).length > 0
  )
}

export interface PreviousItem {
  /** The item's position in `input`. */
  index: number
  id: string
  /** The names under which the item's response may be stored. */
  lookupNames: string[]
}

export interface ItemReference extends PreviousItem {
  /** Whether the proxy created the id. */
  isProxyId: boolean
  /** Whether the item can be omitted if no stored response contains it. Only reasoning can. */
  canOmit: boolean
}

/** Finds items that refer to previous ones, which a stored response may contain. */
export function findItemReferences({ input }: JsonObject): ItemReference[] {
  if (!Array.isArray(input)) return []
  return input.flatMap((item: unknown, index): ItemReference[] => {
    if (!isJsonObject(item) || typeof item.id !== 'string' || !isReference(item)) return []
    const isProxyId = responseBaseIdOf(item.id) !== null
    // If the proxy created the reasoning and it has no text, its id is all that the client got.
    const hasNoText = !Array.isArray(item.summary) || item.summary.length === 0
    const canOmit = item.type === 'reasoning' && !(isProxyId && hasNoText)
    return [{ index, id: item.id, lookupNames: lookupNamesOf(item.id), isProxyId, canOmit }]
  })
}

function lookupNamesOf(itemId: string): string[] {
  const base = responseBaseIdOf(itemId)
  return base === null ? [itemId] : [itemId, `resp_${base}`]
}

/** Finds calls that a client sends back without the reasoning before them. Providers may require it, and a stored response may contain it. */
export function findCallsWithoutReasoning({ input }: JsonObject): PreviousItem[] {
  if (!Array.isArray(input)) return []
  let hasReasoning = false
  return input.flatMap((item: unknown, index): PreviousItem[] => {
    if (!isJsonObject(item)) return []
    const { type, role, id } = item
    // Each turn has its own reasoning.
    if (type === 'reasoning' || type === 'item_reference') hasReasoning = true
    else if (!isCall(item) && role !== 'assistant') hasReasoning = false
    return isCall(item) && typeof id === 'string' && !hasReasoning
      ? [{ index, id, lookupNames: lookupNamesOf(id) }]
      : []
  })
}

function isCall({ type }: JsonObject): boolean {
  return type === 'function_call' || type === 'custom_tool_call'
}

/** Whether an item refers to a previous one. Its type is optional. An item without its content is also a reference. */
function isReference(item: JsonObject): boolean {
  const { type, role, content } = item
  if (type === 'item_reference') return true
  if (type === undefined || type === null) return role === undefined && content === undefined
  return hasNoContent(item)
}
