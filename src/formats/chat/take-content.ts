/** Takes the text out of a message's content, so that the rest can be compared with other messages' rest. */
import { isJsonObject } from '../json/canonical.ts'

/** Stands in place of the text; an object, because no content is one. */
export const TAKEN = { taken: true }

/** `type` is that of the parts with text. Null when there is no text. */
export function takeContent(content: unknown, type: 'text' | 'input_text'): { text: string; rest: unknown } | null {
  if (typeof content === 'string') return { text: content, rest: TAKEN }
  if (!Array.isArray(content)) return null
  const texts: string[] = []
  const rest = content.map(part => {
    if (!isJsonObject(part) || part.type !== type || typeof part.text !== 'string') return part
    texts.push(part.text)
    return { ...part, text: TAKEN }
  })
  return texts.length > 0 ? { text: texts.join('\n'), rest } : null
}
