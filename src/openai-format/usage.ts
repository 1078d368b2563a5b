/** Hides usage, which the proxy always requests, from clients that did not request it. */

import { parseJsonObject, readField } from '../json/json-object.ts'

/**
 * Returns a chunk's data for a client without `stream_options.include_usage`; usually the same string. Returns null when the
 * chunk held only usage and must not be sent.
 */
export function hideUsage(data: string): string | null {
  if (!data.includes('"usage"')) return data
  // OpenAI adds this to every chunk but the last. It cannot match inside a string, where its quotes would be escaped.
  const unannounced = data.replace(',"usage":null', '')
  if (!unannounced.includes('"usage"')) return unannounced
  const chunk = parseJsonObject(data)
  if (chunk === undefined || !Object.hasOwn(chunk, 'usage')) return data
  const { usage, ...rest } = chunk
  const choices = readField(rest, 'choices')
  return usage !== null && Array.isArray(choices) && choices.length === 0 ? null : JSON.stringify(rest)
}
