/**
 * Packs the state of output items as provider extras: reasoning, whose encrypted content must come back before the call or message that follows
 * it, and the phase of that message.
 */
import { asObjects, asString, type JsonObject } from '../json/canonical.ts'

/** The extras field with the items, in their order. */
const ITEMS_FIELD = 'response_items'

/** Returns the extras for a reasoning item; null for one that has neither encrypted content nor its whole text, and cannot come back. */
export function extrasOfReasoning({
  id,
  summary,
  content,
  encrypted_content: encrypted,
}: JsonObject): JsonObject | null {
  const whole = asString(encrypted) === '' ? { content: asObjects(content) } : { encrypted_content: encrypted }
  if (whole.content?.length === 0) return null
  return { [ITEMS_FIELD]: [{ type: 'reasoning', id, summary: asObjects(summary), ...whole }] }
}

/** Returns the extras for a message that follows reasoning; null if it has no phase. */
export function extrasOfMessageItem({ phase }: JsonObject): JsonObject | null {
  return typeof phase === 'string' ? { [ITEMS_FIELD]: [{ type: 'message', phase }] } : null
}

export interface PackedItems {
  /** The reasoning items as a request contains them. */
  reasoning: JsonObject[]
  /** The phase of the next message; null without one. */
  phase: string | null
}

/** Reads the items of verified extras. Ignores extras of other formats. */
export function readPackedItems(fields: JsonObject): PackedItems {
  const items = asObjects(fields[ITEMS_FIELD])
  const phase = items.findLast(({ type }) => type === 'message')?.phase
  return {
    reasoning: items.filter(({ type }) => type === 'reasoning'),
    phase: typeof phase === 'string' ? phase : null,
  }
}
