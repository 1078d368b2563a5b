/** Reads a model's reasoning in chat responses: vendors name the text differently. */

import { type JsonObject, readField } from '../json/canonical.ts'

const TEXT_FIELDS = ['reasoning_content', 'reasoning'] as const

/** The reasoning text in a message or a delta; '' when there is none. Repeated under a second name, the text counts once. */
export function readReasoningText(message: JsonObject): string {
  for (const field of TEXT_FIELDS) {
    const text = readField(message, field)
    if (typeof text === 'string' && text !== '') return text
  }
  return ''
}
