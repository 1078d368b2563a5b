/** Which items of a Responses conversation are calls and results, and which of them belong together, whatever tool they are of. */

import { asString, isJsonObject, type JsonObject } from '../json/canonical.ts'

/** `mcp_approval_response` is what a person says of an approval request. */
const RESULT = /_(?:output|response|result)$/
const CALL = /_call$/

export function isResultItem({ type }: JsonObject): boolean {
  return RESULT.test(asString(type))
}

/** Not all calls are named so: they have an id for their result, or arguments. */
export function isCallItem(item: JsonObject): boolean {
  const { type, call_id: callId, arguments: said } = item
  return !isResultItem(item) && (CALL.test(asString(type)) || typeof callId === 'string' || said !== undefined)
}

/** The part of the type that a call and its result share: `shell` of `shell_call` and `shell_call_output`. */
export function toolNameOf({ type }: JsonObject): string {
  return asString(type).replace(RESULT, '').replace(CALL, '')
}

/** The id by which the other one is found. Absent: nothing answers the call, or the result answers no call. */
export type PairedCallIds = ReadonlyMap<JsonObject, string>

/** Results of some tools name the call's item in place of the call; those of tools that ran at the provider may name neither. */
export function pairCallsWithResults(input: readonly unknown[]): PairedCallIds {
  const items = input.filter(isJsonObject)
  const calls = new Map<string, JsonObject>()
  for (const item of items.filter(isCallItem))
    for (const id of [item.id, item.call_id]) if (typeof id === 'string') calls.set(id, item)
  const ids = new Map<JsonObject, string>()
  /** Calls without an id of their own for their result, the last one of each tool. */
  const nameless = new Map<string, JsonObject>()
  for (const [index, item] of items.entries()) {
    const { call_id: callId, approval_request_id: requestId, id } = item
    if (isCallItem(item)) {
      if (typeof callId !== 'string') nameless.set(toolNameOf(item), item)
      continue
    }
    if (!isResultItem(item)) continue
    const named = calls.get(asString(callId ?? requestId ?? id))
    const call = named ?? (typeof callId === 'string' ? undefined : nameless.get(toolNameOf(item)))
    if (!call) continue
    const pairId = asString(call.call_id ?? call.id) || `call_${index}`
    ids.set(call, pairId).set(item, pairId)
    nameless.delete(toolNameOf(item))
  }
  return ids
}
