/** Items of a Responses request that stand for what an earlier response holds, or lack it. */
import { isJsonObject, type JsonObject } from '../json/canonical.ts'
import { hasNoContent } from '../stored-object-references.ts'

/** Translated responses and their items have ids of these forms. No provider's response ids are as long. */
const RESPONSE_ID = /^resp_[0-9a-f]{44}$/
const ITEM_ID = /^[a-z]{2,3}_([0-9a-f]{44})i?[0-9a-f]{4}$/

/** Names the translated response that an item belongs to; null for any other id, and for none. */
export function responseBaseIdOf(itemId: unknown): string | null {
  return typeof itemId === 'string' ? (ITEM_ID.exec(itemId)?.[1] ?? null) : null
}

/** Whether the proxy has made the id itself. */
export function isProxyResponseId(id: unknown): id is string {
  return typeof id === 'string' && RESPONSE_ID.test(id)
}

/** Whether the request names a response, or an item of one. */
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
  /** The names under which the response that it belongs to may be kept. */
  lookupNames: string[]
}

export interface ItemReference extends PreviousItem {
  /** Whether the proxy has made the id itself. */
  isProxyId: boolean
  /** Reasoning alone can be left out; and it must be, where nobody has it any more. */
  canOmit: boolean
}

/** Items that stand for earlier ones, which a response that is kept may hold. */
export function findItemReferences({ input }: JsonObject): ItemReference[] {
  if (!Array.isArray(input)) return []
  return input.flatMap((item: unknown, index): ItemReference[] => {
    if (!isJsonObject(item) || typeof item.id !== 'string' || !isReference(item)) return []
    const isOwn = responseBaseIdOf(item.id) !== null
    // Without its text, reasoning of ours has been told by its id alone.
    const saysNothing = !Array.isArray(item.summary) || item.summary.length === 0
    const mayBeLeftOut = item.type === 'reasoning' && !(isOwn && saysNothing)
    return [{ index, id: item.id, lookupNames: namesOf(item.id), isProxyId: isOwn, canOmit: mayBeLeftOut }]
  })
}

function namesOf(itemId: string): string[] {
  const base = responseBaseIdOf(itemId)
  return base === null ? [itemId] : [itemId, `resp_${base}`]
}

/** Calls that a client sends back without the reasoning before them: providers may insist on that, and a response that is kept may hold it. */
export function findCallsWithoutReasoning({ input }: JsonObject): PreviousItem[] {
  if (!Array.isArray(input)) return []
  let isThought = false
  return input.flatMap((item: unknown, index): PreviousItem[] => {
    if (!isJsonObject(item)) return []
    const { type, role, id } = item
    // Each turn has its own.
    if (type === 'reasoning' || type === 'item_reference') isThought = true
    else if (!isCall(item) && role !== 'assistant') isThought = false
    return isCall(item) && typeof id === 'string' && !isThought ? [{ index, id, lookupNames: namesOf(id) }] : []
  })
}

function isCall({ type }: JsonObject): boolean {
  return type === 'function_call' || type === 'custom_tool_call'
}

/** Their type is optional. An item without its content, such as reasoning without its proof, stands for what was said, too. */
function isReference(item: JsonObject): boolean {
  const { type, role, content } = item
  if (type === 'item_reference') return true
  if (type === undefined || type === null) return role === undefined && content === undefined
  return hasNoContent(item)
}
