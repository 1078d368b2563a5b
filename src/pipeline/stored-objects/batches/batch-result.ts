/** Reads one result of a message batch: what answered, and what that took. */

import { asString, isJsonObject, parseJsonObject } from '../../../formats/json/canonical.ts'
import { messagesFormat } from '../../../formats/messages/messages-format.ts'
import type { TokenUsage } from '../../../formats/token-usage.ts'

export interface BatchResult {
  model: string
  /** Null when it reports none. */
  usage: TokenUsage | null
}

/** Null for a request that was not answered, which costs nothing. */
export function readBatchResult(line: Uint8Array): BatchResult | null {
  const { result } = parseJsonObject(new TextDecoder().decode(line)) ?? {}
  if (!isJsonObject(result) || result.type !== 'succeeded' || !isJsonObject(result.message)) return null
  const { message } = result
  return { model: asString(message.model), usage: messagesFormat.readUsage(message.usage, message) }
}
