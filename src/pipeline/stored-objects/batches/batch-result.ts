/** Reads one result of a message batch: its model and its usage. */

import { asString, isJsonObject, parseJsonObject } from '../../../formats/json/canonical.ts'
import { messagesFormat } from '../../../formats/messages/messages-format.ts'
import type { TokenUsage } from '../../../formats/token-usage.ts'

export interface BatchResult {
  model: string
  /** The reported usage; null if the result reports none. */
  usage: TokenUsage | null
}

/** Returns null for a request without a response, which costs nothing. */
export function readBatchResult(line: Uint8Array): BatchResult | null {
  const { result } = parseJsonObject(new TextDecoder().decode(line)) ?? {}
  if (!isJsonObject(result) || result.type !== 'succeeded' || !isJsonObject(result.message)) return null
  const { message } = result
  return { model: asString(message.model), usage: messagesFormat.readUsage(message.usage, message) }
}
