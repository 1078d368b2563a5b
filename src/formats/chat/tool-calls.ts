/** Matches fragments to tool calls, for both the assembly and the translation of streams. */

import { asString, isJsonObject, type JsonObject, parseJson, readField } from '../json/canonical.ts'

/** A call, or a fragment of one. Absent texts are ''. */
export interface ToolCallFragment {
  /** Null when the provider does not number its calls. */
  index: number | null
  id: string
  name: string
  /** A piece of the arguments' JSON text, or of a custom tool's input. */
  text: string
  isCustom: boolean
}

/** Reads an item of `tool_calls`. Converts parsed arguments to text. */
export function readToolCallFragment(call: JsonObject): ToolCallFragment {
  const custom = readField(call, 'custom')
  const isCustom = isJsonObject(custom)
  const called = isCustom ? custom : readField(call, 'function')
  const { name, arguments: given, input } = isJsonObject(called) ? called : {}
  return {
    index: parseIndex(readField(call, 'index')),
    id: asString(readField(call, 'id')),
    name: asString(name),
    text: textOfArguments(isCustom ? input : given),
    isCustom,
  }
}

/** Returns a number, which some providers send as text; null for anything else. */
export function parseIndex(value: unknown): number | null {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : null
}

/** The fields of a call that have arrived. */
type KnownCall = Pick<ToolCallFragment, 'id' | 'name' | 'text'>

/**
 * Returns the call that the fragment continues; undefined when it begins another one. Calls are distinguished by `index`, or without one by
 * `id`; without either, the fragment continues the last call. `read` returns the fields of a call so far.
 */
export function findContinuedCall<Call extends { index?: unknown; id?: unknown }>(
  calls: readonly Call[],
  fragment: ToolCallFragment,
  read: (call: Call) => KnownCall,
): Call | undefined {
  const { index, id } = fragment
  const known =
    index === null
      ? (id !== '' && calls.findLast(call => call.id === id)) || calls.at(-1)
      : calls.findLast(call => parseIndex(call.index) === index)
  return known && continues(read(known), fragment) ? known : undefined
}

/** Whether a fragment continues a call. Some providers give all calls index 0 or none: a new id or name then begins another call, once the first is complete. */
function continues(known: KnownCall, { id, name, text }: ToolCallFragment): boolean {
  const isOther = id !== '' && known.id !== '' && id !== known.id
  if (isOther) return name === '' && !isCompleteJsonObject(known.text)
  return name === '' || known.name === '' || text === '' || !isCompleteJsonObject(known.text)
}

/** Whether the arguments' text is a complete JSON object. */
export function isCompleteJsonObject(text: string): boolean {
  return text.trimEnd().endsWith('}') && isJsonObject(parseJson(text))
}

function textOfArguments(given: unknown): string {
  if (given === undefined || given === null) return ''
  return typeof given === 'string' ? given : JSON.stringify(given)
}

/** Sets the index of a fragment and converts its arguments to text, as clients expect. */
export function normalizeCallFragment(fragment: JsonObject, index: number): void {
  if (fragment.index !== index) fragment.index = index
  const called = readField(fragment, 'function')
  if (isJsonObject(called) && hasParsedArguments(called)) called.arguments = textOfArguments(called.arguments)
}

/** Converts the arguments of a plain response's calls to text. Returns whether anything changed. */
export function normalizeToolCalls(calls: readonly JsonObject[]): boolean {
  const parsed = calls
    .map(call => readField(call, 'function'))
    .filter(called => isJsonObject(called) && hasParsedArguments(called))
  for (const called of parsed as JsonObject[]) called.arguments = textOfArguments(called.arguments)
  return parsed.length > 0
}

export function hasParsedArguments(called: JsonObject): boolean {
  const given = readField(called, 'arguments')
  return given !== undefined && given !== null && typeof given !== 'string'
}
