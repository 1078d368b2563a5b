/** Merges the fields around a streamed message: the latest value counts. */

import { isJsonObject, type JsonObject, readField, writeField } from '../json/json-object.ts'

/** Whether a value leaves the earlier one in place. */
export function isBlank(value: unknown): boolean {
  return value === null || value === undefined || value === ''
}

/** Sets a field to its latest value. Null and '' never replace an earlier value. */
export function mergeState(target: JsonObject, key: string, incoming: unknown): void {
  const existing = readField(target, key)
  if (existing === incoming) return
  if (isBlank(incoming) && existing !== undefined) return
  if (isJsonObject(existing) && isJsonObject(incoming)) {
    for (const inner in incoming) mergeState(existing, inner, incoming[inner])
  } else writeField(target, key, incoming)
}

/** Adds a chunk's log probabilities. Lists of tokens are appended; for all other fields the latest value counts. */
export function mergeLogprobs(target: JsonObject, incoming: unknown): void {
  const existing = readField(target, 'logprobs')
  if (!isJsonObject(existing) || !isJsonObject(incoming)) {
    mergeState(target, 'logprobs', incoming)
    return
  }
  for (const key in incoming) {
    const known = readField(existing, key)
    const added = incoming[key]
    if (Array.isArray(known) && Array.isArray(added)) for (const item of added) known.push(item)
    else mergeState(existing, key, added)
  }
}
