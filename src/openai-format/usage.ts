/** Hides usage, which the upstream is always asked for, from clients that did not ask for it. */

import { parseJsonObject, readField } from '../json/json-object.ts'

/**
 * A chunk's data for a client without `stream_options.include_usage`, mostly unchanged. Null when the chunk contains only usage, and must
 * not be sent.
 */
export function hideUsage(data: string): string | null {
  if (!data.includes('"usage"')) return data
  // OpenAI writes this into every chunk but the last. It cannot be part of a string, whose quotes would be escaped.
  const unannounced = data.replace(',"usage":null', '')
  if (!unannounced.includes('"usage"')) return unannounced
  const chunk = parseJsonObject(data)
  if (chunk === undefined || !Object.hasOwn(chunk, 'usage')) return data
  const { usage, ...rest } = chunk
  const choices = readField(rest, 'choices')
  return usage !== null && Array.isArray(choices) && choices.length === 0 ? null : JSON.stringify(rest)
}
