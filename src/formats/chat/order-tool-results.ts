/** Puts the results of tool calls right behind their calls: strict vendors refuse any other message between them, and one without the other. */

import { asObjects, asString, type JsonObject } from '../json/canonical.ts'
import { setSourcePath, sourcePathOf } from '../source-paths.ts'

/** Images and files of results, which a tool message cannot hold. */
export type ToolResultMedia = ReadonlyMap<JsonObject, readonly JsonObject[]>

/** For a call that an interrupted turn left without a result. */
const NO_RESULT = '(No result was recorded.)'

/**
 * What stood between the calls of a message and their results moves behind the last of them; everything else keeps its order, as do the
 * results of one message. Media become a user message where the last result of their message stood. A result without a call becomes a
 * user message in its place; a call without a result gets one that says so.
 */
export function orderToolResults(messages: readonly JsonObject[], media: ToolResultMedia): JsonObject[] {
  const { callerOf, resultsOf, unanswered } = matchResults(messages)
  const ordered: JsonObject[] = []
  /** Messages that call, of which either they themselves or their last result were passed. */
  const halfPassed = new Set<JsonObject>()
  let waiting: JsonObject[] = []

  function pushMedia(): void {
    const [first] = waiting
    if (first)
      ordered.push(setSourcePath({ role: 'user', content: waiting.flatMap(describeMedia) }, sourcePathOf(first) ?? ''))
    waiting = []
  }

  const describeMedia = (result: JsonObject) => describe(result, media.get(result) ?? [])

  /** Media follow both the call and the last result. */
  function passTurn(caller: JsonObject, results: readonly JsonObject[]): void {
    if (halfPassed.has(caller)) for (const each of results) if (media.has(each)) waiting.push(each)
    halfPassed.add(caller)
  }

  for (const message of messages) {
    const caller = callerOf.get(message)
    const results = resultsOf.get(caller ?? message) ?? []
    if (caller) {
      if (results.at(-1) === message) passTurn(caller, results)
      continue
    }
    pushMedia()
    ordered.push(message.role === 'tool' ? writeAsUser(message, media.get(message) ?? []) : message)
    for (const result of results) ordered.push(result)
    for (const call of unanswered.get(message) ?? []) ordered.push(writeNoResult(call))
    if (results.length > 0) passTurn(message, results)
  }
  pushMedia()
  return ordered
}

function describe(result: JsonObject, parts: readonly unknown[]): unknown[] {
  const heading = { type: 'text', text: `Returned by call ${asString(result.tool_call_id)}:` }
  return [setSourcePath(heading, sourcePathOf(result) ?? ''), ...parts]
}

function writeAsUser(result: JsonObject, media: readonly JsonObject[]): JsonObject {
  const place = sourcePathOf(result) ?? ''
  const { content } = result
  const said: unknown[] = Array.isArray(content) ? content : [setSourcePath({ type: 'text', text: content }, place)]
  return setSourcePath({ role: 'user', content: describe(result, content === '' ? media : [...said, ...media]) }, place)
}

function writeNoResult(call: JsonObject): JsonObject {
  return setSourcePath({ role: 'tool', tool_call_id: call.id, content: NO_RESULT }, sourcePathOf(call) ?? '')
}

interface MatchedResults {
  /** The message whose call a result answers. */
  callerOf: Map<JsonObject, JsonObject>
  /** As they came. */
  resultsOf: Map<JsonObject, JsonObject[]>
  /** The calls of a message that have no result. */
  unanswered: Map<JsonObject, JsonObject[]>
}

interface OpenCall {
  caller: JsonObject
  call: JsonObject
}

/** A vendor may use an id again: a result answers the nearest call before it that has none yet, else the first one after it. */
function matchResults(messages: readonly JsonObject[]): MatchedResults {
  /** Calls without a result by their ids, the last one last. */
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
  const unanswered = new Map<JsonObject, JsonObject[]>()
  for (const { caller, call } of [...open.values()].flat()) addTo(unanswered, caller, call)
  return { callerOf, resultsOf, unanswered }
}

function callsOf({ role, tool_calls: calls }: JsonObject): JsonObject[] {
  return role === 'assistant' ? asObjects(calls) : []
}

function addTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}
