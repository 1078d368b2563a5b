/** Orders tool results directly after their calls. Strict vendors reject other messages between them, and a call or result without the other. */

import { asObjects, asString, type JsonObject } from '../json/canonical.ts'
import { setSourcePath, sourcePathOf } from '../source-paths.ts'

/** Images and files of results, which a tool message cannot contain. */
export type ToolResultMedia = ReadonlyMap<JsonObject, readonly JsonObject[]>

/** The result of a call that has none, for example because the turn was interrupted. */
const NO_RESULT = '(No result was recorded.)'

/**
 * Moves messages between the calls of a message and their results after the last result. All other messages, and the results of one message,
 * keep their order. Media become a user message at the position of the last result. A result without a call becomes a user message in its
 * place; a call without a result gets NO_RESULT.
 */
export function orderToolResults(messages: readonly JsonObject[], media: ToolResultMedia): JsonObject[] {
  const { callerOf, resultsOf, callsWithoutResult } = matchResults(messages)
  const ordered: JsonObject[] = []
  /** Calling messages of which either the message itself or its last result has been reached. */
  const halfReached = new Set<JsonObject>()
  let pendingMedia: JsonObject[] = []

  function pushMedia(): void {
    const [first] = pendingMedia
    if (first)
      ordered.push(
        setSourcePath({ role: 'user', content: pendingMedia.flatMap(describeMedia) }, sourcePathOf(first) ?? ''),
      )
    pendingMedia = []
  }

  const describeMedia = (result: JsonObject) => describe(result, media.get(result) ?? [])

  /** Adds the media of a turn once both its call and its last result have been reached. */
  function reachTurn(caller: JsonObject, results: readonly JsonObject[]): void {
    if (halfReached.has(caller)) for (const each of results) if (media.has(each)) pendingMedia.push(each)
    halfReached.add(caller)
  }

  for (const message of messages) {
    const caller = callerOf.get(message)
    const results = resultsOf.get(caller ?? message) ?? []
    if (caller) {
      if (results.at(-1) === message) reachTurn(caller, results)
      continue
    }
    pushMedia()
    ordered.push(message.role === 'tool' ? toUserMessage(message, media.get(message) ?? []) : message)
    for (const result of results) ordered.push(result)
    for (const call of callsWithoutResult.get(message) ?? []) ordered.push(createMissingResult(call))
    if (results.length > 0) reachTurn(message, results)
  }
  pushMedia()
  return ordered
}

function describe(result: JsonObject, parts: readonly unknown[]): unknown[] {
  const heading = { type: 'text', text: `Returned by call ${asString(result.tool_call_id)}:` }
  return [setSourcePath(heading, sourcePathOf(result) ?? ''), ...parts]
}

function toUserMessage(result: JsonObject, media: readonly JsonObject[]): JsonObject {
  const path = sourcePathOf(result) ?? ''
  const { content } = result
  const parts: unknown[] = Array.isArray(content) ? content : [setSourcePath({ type: 'text', text: content }, path)]
  return setSourcePath({ role: 'user', content: describe(result, content === '' ? media : [...parts, ...media]) }, path)
}

function createMissingResult(call: JsonObject): JsonObject {
  return setSourcePath({ role: 'tool', tool_call_id: call.id, content: NO_RESULT }, sourcePathOf(call) ?? '')
}

interface MatchedResults {
  /** The message with the call that a result belongs to. */
  callerOf: Map<JsonObject, JsonObject>
  /** The results of a message's calls, in their order of arrival. */
  resultsOf: Map<JsonObject, JsonObject[]>
  /** The calls of a message that have no result. */
  callsWithoutResult: Map<JsonObject, JsonObject[]>
}

interface OpenCall {
  caller: JsonObject
  call: JsonObject
}

/** Matches results with calls. A vendor may reuse an id: a result belongs to the nearest call before it without one, else to the first after it. */
function matchResults(messages: readonly JsonObject[]): MatchedResults {
  /** Tool calls that have no result yet, keyed by ID, in message order. */
  const open = new Map<string, OpenCall[]>()
  const early: JsonObject[] = []
  const callerOf = new Map<JsonObject, JsonObject>()
  for (const message of messages) {
    for (const call of callsOf(message)) addTo(open, asString(call.id), { caller: message, call })
    if (message.role !== 'tool') continue
    const found = open.get(asString(message.tool_call_id))?.pop()
    if (found) callerOf.set(message, found.caller)
    else early.push(message)
  }
  for (const calls of open.values()) calls.reverse()
  for (const result of early) {
    const found = open.get(asString(result.tool_call_id))?.pop()
    if (found) callerOf.set(result, found.caller)
  }
  const resultsOf = new Map<JsonObject, JsonObject[]>()
  for (const message of messages) {
    const caller = callerOf.get(message)
    if (caller) addTo(resultsOf, caller, message)
  }
  const callsWithoutResult = new Map<JsonObject, JsonObject[]>()
  for (const { caller, call } of [...open.values()].flat()) addTo(callsWithoutResult, caller, call)
  return { callerOf, resultsOf, callsWithoutResult }
}

function callsOf({ role, tool_calls: calls }: JsonObject): JsonObject[] {
  return role === 'assistant' ? asObjects(calls) : []
}

function addTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}
