/** Reads the question of a request: the last text of its last message, if a user sent that. */
import { asObjects, type JsonObject } from './json/canonical.ts'

/** Returns null when there is no such text. */
export function readQuestion(body: JsonObject): string | null {
  const turns = body.messages ?? body.input ?? body.prompt
  if (typeof turns === 'string') return turns
  const last = asObjects(turns).at(-1)
  if (last?.role !== 'user') return null
  if (typeof last.content === 'string') return last.content
  const text = asObjects(last.content).findLast(part => typeof part.text === 'string')?.text
  return typeof text === 'string' ? text : null
}
