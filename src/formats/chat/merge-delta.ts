/** Merges the deltas of a streamed message, including unknown fields, and the other fields of its chunks, of which the latest value counts. */

import { asNumber, isBlank, isJsonObject, type JsonObject, readField, writeField } from '../json/canonical.ts'
import { mergeContent } from './content-parts.ts'
import { findContinuedCall, normalizeCallFragment, readToolCallFragment } from './tool-calls.ts'

/** Last words of keys whose strings are names or types. Such strings are sent once or repeated whole, never in fragments. */
const CONSTANT_WORDS = new Set([
  'id',
  'type',
  'kind',
  'role',
  'name',
  'object',
  'model',
  'format',
  'status',
  'reason',
  'signature',
  'url',
])

/** Whether strings under this key, such as `name` or `call_id`, are always sent whole. All others are fragments of a longer string. */
export function isUnfragmentedKey(key: string): boolean {
  return CONSTANT_WORDS.has(key.slice(key.lastIndexOf('_') + 1))
}

/**
 * Merges a delta into the message so far. Fragments are appended and objects merged. List items are merged by `index` (and
 * `type` and `id`), or appended. Numbers and booleans are replaced. Null is ignored, and so is '' for constants. Parts of
 * `delta` become parts of `target`. Returns false when a field changes its type: the latest value is stored, but the whole cannot
 * be known.
 */
export function mergeDelta(target: JsonObject, delta: JsonObject): boolean {
  let isConsistent = true
  for (const key in delta) {
    const incoming = delta[key]
    const existing = readField(target, key)
    if (typeof incoming === 'string' && typeof existing === 'string') {
      if (!isUnfragmentedKey(key)) writeField(target, key, existing + incoming)
      else if (incoming !== '') writeField(target, key, incoming)
    } else if (!mergeValue(target, key, existing, incoming)) isConsistent = false
  }
  return isConsistent
}

function mergeValue(target: JsonObject, key: string, existing: unknown, incoming: unknown): boolean {
  if (isBlank(incoming) && existing !== undefined) return true
  if (key === 'tool_calls' && Array.isArray(incoming) && (Array.isArray(existing) || isBlank(existing))) {
    const calls = Array.isArray(existing) ? existing : []
    writeField(target, key, calls)
    return mergeToolCalls(calls, incoming)
  }
  const parts = key === 'content' ? mergeContent(existing, incoming) : null
  if (parts) {
    writeField(target, key, parts)
    return true
  }
  if (Array.isArray(existing) && Array.isArray(incoming)) return mergeItems(existing, incoming)
  if (isJsonObject(existing) && isJsonObject(incoming)) return mergeDelta(existing, incoming)
  writeField(target, key, incoming)
  return isBlank(existing) || (typeof existing === typeof incoming && typeof incoming !== 'object')
}

/** Each item continues the last item with the same `index`, or is appended. */
function mergeItems(items: unknown[], fragments: unknown[]): boolean {
  let isConsistent = true
  const known = items.length * fragments.length > MAX_SCAN_STEPS ? lastByIndex(items) : null
  for (const fragment of fragments) {
    const index = isJsonObject(fragment) ? readField(fragment, 'index') : undefined
    const item = known ? known.get(index) : findLastByIndex(items, index)
    if (item === undefined || !isJsonObject(fragment) || isAnother(item, fragment)) {
      items.push(fragment)
      if (isJsonObject(fragment) && typeof index === 'number') known?.set(index, fragment)
    } else if (!mergeDelta(item, fragment)) isConsistent = false
  }
  return isConsistent
}

/** Longer lists are searched with a map: a client may send one in its conversation. */
const MAX_SCAN_STEPS = 4_096

function lastByIndex(items: readonly unknown[]): Map<unknown, JsonObject> {
  const last = new Map<unknown, JsonObject>()
  for (const item of items) {
    const index = isJsonObject(item) ? readField(item, 'index') : undefined
    if (isJsonObject(item) && typeof index === 'number') last.set(index, item)
  }
  return last
}

/** Merges fragments into the calls. Each continues a call or begins the next one, and is normalized to the index and form that clients expect. */
function mergeToolCalls(calls: unknown[], fragments: unknown[]): boolean {
  let isConsistent = true
  for (const fragment of fragments) {
    if (!isJsonObject(fragment)) return false
    const read = readToolCallFragment(fragment)
    const known = findContinuedCall(calls as JsonObject[], read, readToolCallFragment)
    normalizeCallFragment(fragment, known ? asNumber(known.index) : nextIndex(calls as JsonObject[], read.index))
    // The fragment itself may still be sent.
    if (known === undefined) calls.push(structuredClone(fragment))
    else if (!mergeDelta(known, fragment)) isConsistent = false
  }
  return isConsistent
}

/** Returns the provider's index, unless another call has it; then the next free one. */
function nextIndex(calls: readonly JsonObject[], providerIndex: number | null): number {
  const isTaken = providerIndex === null || calls.some(({ index }) => index === providerIndex)
  return isTaken ? Math.max(-1, ...calls.map(({ index }) => asNumber(index, -1))) + 1 : providerIndex
}

function findLastByIndex(items: unknown[], index: unknown): JsonObject | undefined {
  if (typeof index !== 'number') return undefined
  for (let at = items.length - 1; at >= 0; at--) {
    const item = items[at]
    if (isJsonObject(item) && readField(item, 'index') === index) return item
  }
  return undefined
}

/** Whether a fragment belongs to another item. Aggregators give blocks of different types the same index. */
function isAnother(item: JsonObject, fragment: JsonObject): boolean {
  return differs(item, fragment, 'type') || differs(item, fragment, 'id')
}

function differs(item: JsonObject, fragment: JsonObject, key: string): boolean {
  const incoming = readField(fragment, key)
  const known = readField(item, key)
  return !isBlank(incoming) && !isBlank(known) && incoming !== known
}

/** Sets a field to its latest value. Null and '' never replace an earlier value. */
export function mergeLatestValue(target: JsonObject, key: string, incoming: unknown): void {
  const existing = readField(target, key)
  if (existing === incoming) return
  if (isBlank(incoming) && existing !== undefined) return
  if (isJsonObject(existing) && isJsonObject(incoming)) {
    for (const inner in incoming) mergeLatestValue(existing, inner, incoming[inner])
  } else writeField(target, key, incoming)
}

/** Merges a chunk's log probabilities. Lists of tokens are appended; for all other fields, the latest value counts. */
export function mergeLogprobs(target: JsonObject, incoming: unknown): void {
  const existing = readField(target, 'logprobs')
  if (!isJsonObject(existing) || !isJsonObject(incoming)) {
    mergeLatestValue(target, 'logprobs', incoming)
    return
  }
  for (const key in incoming) {
    const known = readField(existing, key)
    const added = incoming[key]
    if (Array.isArray(known) && Array.isArray(added)) for (const item of added) known.push(item)
    else mergeLatestValue(existing, key, added)
  }
}
