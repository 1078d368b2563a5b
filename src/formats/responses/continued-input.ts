/** Puts what a Responses request refers to in place of its references: earlier responses of ours, and their items. */

import { isJsonObject, type JsonObject, objectsOf, parseJsonObject } from '../json/canonical.ts'
import { parseExactly } from '../json/exact-json.ts'

/** Translated responses and their items have ids of these forms. No provider's response ids are as long. */
const RESPONSE_ID = /^resp_[0-9a-f]{44}$/
const ITEM_ID = /^[a-z]{2,3}_([0-9a-f]{44})i?[0-9a-f]{4}$/

/** Names the translated response that an item belongs to; null for any other id, and for none. */
export function answerOf(itemId: unknown): string | null {
  return typeof itemId === 'string' ? (ITEM_ID.exec(itemId)?.[1] ?? null) : null
}

/** Whether the proxy has made the id itself. */
export function isOwnResponseId(id: unknown): id is string {
  return typeof id === 'string' && RESPONSE_ID.test(id)
}

/** Whether the request names a response of ours, or an item of one. */
export function namesEarlier(body: JsonObject): boolean {
  return isOwnResponseId(body.previous_response_id) || findItemReferences(body).length > 0
}

export interface EarlierResponse {
  id: string
  /** JSON list of its request's own input items; null when they were too long to be kept. */
  input: string | null
  /** JSON. */
  response: string
}

export interface ItemReference {
  /** The item's position in `input`. */
  index: number
  id: string
  /** The response that the item may belong to. */
  responseId: string
}

/** Items that stand for earlier ones which a response of ours may hold. */
export function findItemReferences({ input }: JsonObject): ItemReference[] {
  if (!Array.isArray(input)) return []
  return input.flatMap((item: unknown, index): ItemReference[] => {
    if (!isJsonObject(item) || typeof item.id !== 'string') return []
    const base = ITEM_ID.exec(item.id)?.[1]
    return base !== undefined && isReference(item) ? [{ index, id: item.id, responseId: `resp_${base}` }] : []
  })
}

/** Their type is optional. Reasoning with neither text nor proof stands for what was said, too. */
function isReference({ type, role, summary, encrypted_content: proof, content }: JsonObject): boolean {
  if (type === 'item_reference') return true
  if (type === undefined || type === null) return role === undefined && content === undefined
  return type === 'reasoning' && !proof && (!Array.isArray(summary) || summary.length === 0)
}

/** The items of a request's `input`, which may be one text. */
export function inputItems(input: unknown): JsonObject[] {
  if (Array.isArray(input)) return input.filter(isJsonObject)
  if (typeof input !== 'string') return []
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
}

/** The request's own items under ids, which those without one are given. */
export function listInput({ id, input }: EarlierResponse): JsonObject[] {
  const items = input === null ? [] : (parseExactly(input) as JsonObject[])
  const base = id.slice('resp_'.length)
  return items.map((item, index) => ({ id: `msg_${base}i${index.toString(16).padStart(4, '0')}`, ...item }))
}

/** Null when the response is not of the form that was kept. */
export function outputOf({ response }: EarlierResponse): JsonObject[] {
  return objectsOf(parseJsonObject(response)?.output)
}

export interface Continued {
  /** The items that come first. */
  before: JsonObject[]
  /** The request's own items, whole. */
  own: JsonObject[]
  /** The first item that no kept response holds. */
  missing: ItemReference | null
}

/** `turns` are the responses that `previous_response_id` leads back to, the first one first; `named` those that items belong to. */
export function continueInput(
  body: JsonObject,
  turns: readonly EarlierResponse[],
  named: readonly EarlierResponse[],
): Continued {
  const known = new Map(named.flatMap(one => [...listInput(one), ...outputOf(one)]).map(item => [item.id, item]))
  const references = new Map(findItemReferences(body).map(reference => [reference.index, reference]))
  const missing = [...references.values()].find(({ id }) => !known.has(id)) ?? null
  const own = inputItems(body.input).map((item, index) => known.get(references.get(index)?.id) ?? item)
  return { before: turns.flatMap(turn => [...withoutIds(listInput(turn)), ...outputOf(turn)]), own, missing }
}

function withoutIds(items: JsonObject[]): JsonObject[] {
  return items.map(({ id: _id, ...item }) => item)
}

export interface ToContinue {
  bytes: Uint8Array
  turns: readonly EarlierResponse[]
  named: readonly EarlierResponse[]
  /** The id is dropped for a provider that would look for it among its own. */
  dropsPrevious: boolean
}

export interface WrittenRequest {
  bytes: Uint8Array
  /** JSON list of the request's own items. */
  ownInput: string
  missing: ItemReference | null
}

/** Writes the request anew with all that it refers to. */
export function writeContinued({ bytes, turns, named, dropsPrevious }: ToContinue): WrittenRequest {
  const { previous_response_id: previous, ...body } = parseExactly(new TextDecoder().decode(bytes)) as JsonObject
  const { before, own, missing } = continueInput(body, turns, named)
  const whole = { ...body, input: [...before, ...own], ...(dropsPrevious ? {} : { previous_response_id: previous }) }
  return { bytes: new TextEncoder().encode(JSON.stringify(whole)), ownInput: JSON.stringify(own), missing }
}
