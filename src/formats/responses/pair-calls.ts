/** Pairs the calls and results of a Responses conversation, for any kind of tool. */

import { asString, isJsonObject, type JsonObject } from '../json/canonical.ts'

/** Matches the types of results, including `mcp_approval_response`, a person's reply to an approval request. */
const RESULT_TYPE = /_(?:output|response|result)$/
const CALL_TYPE = /_call$/

export function isCallOutputItem({ type }: JsonObject): boolean {
  return RESULT_TYPE.test(asString(type))
}

/** Whether an item is a call: it has the type of one, a `call_id`, or arguments. */
export function isCallItem(item: JsonObject): boolean {
  const { type, call_id: callId, arguments: callArguments } = item
  return (
    !isCallOutputItem(item) &&
    (CALL_TYPE.test(asString(type)) || typeof callId === 'string' || callArguments !== undefined)
  )
}

/** Returns the part of the type that a call and its result share, such as `shell` for `shell_call` and `shell_call_output`. */
export function toolNameOf({ type }: JsonObject): string {
  return asString(type).replace(RESULT_TYPE, '').replace(CALL_TYPE, '')
}

/** The id that a call and its result share. A call without a result, or a result without a call, has no entry. */
export type PairedCallIds = ReadonlyMap<JsonObject, string>

/** Pairs calls with results. Results of some tools refer to the call's item instead of the call; results of hosted tools may refer to neither. */
export function pairCallsWithResults(input: readonly unknown[]): PairedCallIds {
  const items = input.filter(isJsonObject)
  const calls = new Map<string, JsonObject>()
  for (const item of items.filter(isCallItem))
    for (const id of [item.id, item.call_id]) if (typeof id === 'string') calls.set(id, item)
  const ids = new Map<JsonObject, string>()
  /** The last call without a `call_id` of each tool. */
  const callsWithoutId = new Map<string, JsonObject>()
  for (const [index, item] of items.entries()) {
    const { call_id: callId, approval_request_id: requestId, id } = item
    if (isCallItem(item)) {
      if (typeof callId !== 'string') callsWithoutId.set(toolNameOf(item), item)
      continue
    }
    if (!isCallOutputItem(item)) continue
    const named = calls.get(asString(callId ?? requestId ?? id))
    const call = named ?? (typeof callId === 'string' ? undefined : callsWithoutId.get(toolNameOf(item)))
    if (!call) continue
    const pairId = asString(call.call_id ?? call.id) || `call_${index}`
    ids.set(call, pairId).set(item, pairId)
    callsWithoutId.delete(toolNameOf(item))
  }
  return ids
}
