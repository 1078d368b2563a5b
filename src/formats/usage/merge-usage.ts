/** Merges the usage that the chunks of a stream report, field by field. */
import { isBlank, isEmpty, isJsonObject, type JsonObject, readField, writeField } from '../json/canonical.ts'
import { readNonNegativeNumber, readUsageCounts } from './read-count.ts'

interface MergeOptions {
  /** Whether a later count covers the whole response, as Anthropic's counts do. It then also shouldReplace a larger one, such as an estimate. */
  isCumulative?: boolean
}

/** Returns the merged usage without changing its arguments. A null, zero or empty value never shouldReplace an earlier one. The larger of two counts wins. */
export function mergeUsage(known: unknown, later: unknown, options: MergeOptions = {}): unknown {
  if (isEmptyOrZero(later)) return isBlank(known) ? (later ?? known) : known
  if (!isJsonObject(known)) return isBlank(known) || isJsonObject(later) ? later : known
  return isJsonObject(later) ? mergeFields(known, later, options) : known
}

function mergeFields(known: JsonObject, later: JsonObject, options: MergeOptions): JsonObject {
  const merged: JsonObject = { ...known }
  for (const key of Object.keys(later)) {
    const [before, value] = [readField(known, key), later[key]]
    if (isJsonObject(before) || (isJsonObject(value) && readNonNegativeNumber(before) === null))
      writeField(merged, key, mergeUsage(before, value, options))
    else if (shouldReplace(before, value, options)) writeField(merged, key, value)
  }
  // The whole prompt was cached, so this zero is a count.
  if (options.isCumulative && later.input_tokens === 0 && hasCached(later)) merged.input_tokens = 0
  return merged
}

function hasCached(usage: JsonObject): boolean {
  const { inputCached = 0, inputWritten = 0 } = readUsageCounts(usage)
  return inputCached + inputWritten > 0
}

function shouldReplace(before: unknown, value: unknown, { isCumulative = false }: MergeOptions): boolean {
  if (before === undefined) return true
  if (isEmptyOrZero(value)) return false
  const [known, later] = [readNonNegativeNumber(before), readNonNegativeNumber(value)]
  // A readable count shouldReplace an unreadable one.
  if (known === null || later === null) return later !== null || known === null
  return isCumulative || later > known
}

function isEmptyOrZero(value: unknown): boolean {
  return isEmpty(value) || readNonNegativeNumber(value) === 0
}

/** Returns the usage of a chat chunk or response. Groq's streams have it in `x_groq`, Moonshot's within a choice. */
export function findUsage(response: JsonObject): unknown {
  const { usage, x_groq: groq, choices } = response
  let found: unknown = usage ?? null
  if (isJsonObject(groq)) found = mergeUsage(found, readField(groq, 'usage'))
  if (!Array.isArray(choices)) return found
  for (const choice of choices) if (isJsonObject(choice?.usage)) found = mergeUsage(found, choice.usage)
  return found
}
