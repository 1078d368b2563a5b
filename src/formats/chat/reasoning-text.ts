/** Reads a model's reasoning in chat responses. Vendors use different field names. */

import { type JsonObject, readField } from '../json/canonical.ts'

const TEXT_FIELDS = ['reasoning_content', 'reasoning'] as const

/** The reasoning text in a message or a delta; '' when there is none. A text that is repeated under a second name counts once. */
export function readReasoningText(message: JsonObject): string {
  for (const field of TEXT_FIELDS) {
    const text = readField(message, field)
    if (typeof text === 'string' && text !== '') return text
  }
  return ''
}
