/** Keeps usage, which is always asked of upstream, from clients that did not ask for it. */

import { parseJsonObject, readField } from '../json/json-object.ts'

/**
 * A chunk's data as a client sees it without `stream_options.include_usage`: mostly the very same string.
 * Null where the chunk was there for its usage alone, and is not to be sent.
 */
export function hideUsage(data: string): string | null {
  if (!data.includes('"usage"')) return data
  // OpenAI says so in every chunk but the last. The text cannot be part of a string: its quotes would be escaped there.
  const unannounced = data.replace(',"usage":null', '')
  if (!unannounced.includes('"usage"')) return unannounced
  const chunk = parseJsonObject(data)
  if (chunk === undefined || !Object.hasOwn(chunk, 'usage')) return data
  const { usage, ...rest } = chunk
  const choices = readField(rest, 'choices')
  return usage !== null && Array.isArray(choices) && choices.length === 0 ? null : JSON.stringify(rest)
}
