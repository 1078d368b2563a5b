/** Merges what the chunks of a stream report about its usage, field by field. */
import { isBlank, isJsonObject, type JsonObject, readField, writeField } from '../json/canonical.ts'
import { readNonNegativeNumber, readUsageCounts } from './read-count.ts'

interface MergeOptions {
  /** Whether a later count covers all of the response, as Anthropic's do: it then replaces a larger one, such as an estimate. */
  isCumulative?: boolean
}

/** A later null, zero or empty value never replaces an earlier one. Of two counts, the larger is kept. Neither object is changed. */
export function mergeUsage(known: unknown, later: unknown, options: MergeOptions = {}): unknown {
  if (isEmpty(later)) return isBlank(known) ? (later ?? known) : known
  if (!isJsonObject(known)) return isBlank(known) || isJsonObject(later) ? later : known
  return isJsonObject(later) ? mergeFields(known, later, options) : known
}

function mergeFields(known: JsonObject, later: JsonObject, options: MergeOptions): JsonObject {
  const merged: JsonObject = { ...known }
  for (const key of Object.keys(later)) {
    const [before, value] = [readField(known, key), later[key]]
    if (isJsonObject(before) || (isJsonObject(value) && readNonNegativeNumber(before) === null))
      writeField(merged, key, mergeUsage(before, value, options))
    else if (replaces(before, value, options)) writeField(merged, key, value)
  }
  // All of the prompt was cached: then this zero is a count.
  if (options.isCumulative && later.input_tokens === 0 && hasCached(later)) merged.input_tokens = 0
  return merged
}

function hasCached(usage: JsonObject): boolean {
  const { inputCached = 0, inputWritten = 0 } = readUsageCounts(usage)
  return inputCached + inputWritten > 0
}

function replaces(before: unknown, value: unknown, { isCumulative = false }: MergeOptions): boolean {
  if (before === undefined) return true
  if (isEmpty(value)) return false
  const [known, later] = [readNonNegativeNumber(before), readNonNegativeNumber(value)]
  // A count that can be read outweighs one that cannot.
  if (known === null || later === null) return later !== null || known === null
  return isCumulative || later > known
}

function isEmpty(value: unknown): boolean {
  return isBlank(value) || readNonNegativeNumber(value) === 0 || (Array.isArray(value) && value.length === 0)
}

/** Where a chat chunk or response has its usage: Groq's streams have it in a field of their own, Moonshot's within a choice. */
export function findUsage(answer: JsonObject): unknown {
  const { usage, x_groq: groq, choices } = answer
  let found: unknown = usage ?? null
  if (isJsonObject(groq)) found = mergeUsage(found, readField(groq, 'usage'))
  if (!Array.isArray(choices)) return found
  for (const choice of choices) if (isJsonObject(choice?.usage)) found = mergeUsage(found, choice.usage)
  return found
}
