/** Prepares the turns of a conversation for the model that receives it: its own get their extras back, others what the model's vendor requires. */
import type { TurnRule } from '../../config/vendors.ts'
import { asObjects, isJsonObject, type JsonObject, sha256 } from '../json/canonical.ts'
import { isEmptyValue, listExtraNames } from './provider-extras.ts'
import type { ToolTurn } from './tool-turns.ts'
import { extrasOfTurn, isToolTurn, removeExtras, restoreExtras, type TurnExtras } from './turn-extras.ts'

/** A turn that was stored for the caller. */
export interface StoredTurn {
  name: string
  /** The provider and model that created it. */
  madeBy: string
  /** Null if the client sent all of them. */
  extras: TurnExtras | null
}

export interface TurnTarget {
  /** The provider and model that receive the conversation. */
  madeBy: string
  rules: readonly TurnRule[]
}

/** Returns the messages for the target. Messages that need nothing stay the same objects. */
export function completeTurns(
  messages: readonly unknown[],
  turns: readonly ToolTurn[],
  stored: readonly StoredTurn[],
  { madeBy, rules }: TurnTarget,
): unknown[] {
  const byIndex = new Map(turns.map(turn => [turn.index, turn]))
  return messages.map((message, index) => {
    if (!isJsonObject(message)) return message
    const { names = [] } = byIndex.get(index) ?? {}
    // The name by ids comes first.
    const found = names.flatMap(name => stored.filter(turn => turn.name === name))
    const own = found.find(turn => turn.madeBy === madeBy)
    if (own) return applyRules(own.extras ? restoreExtras(message, own.extras) : message, rules, true)
    const isForeign = found.length > 0
    const extras = isForeign ? (found.find(turn => turn.extras)?.extras ?? extrasOfTurn(message)) : null
    return applyRules(extras ? removeExtras(message, extras) : message, rules, false)
  })
}

function applyRules(message: JsonObject, rules: readonly TurnRule[], isOwn: boolean): JsonObject {
  return rules.reduce((changed, rule) => RULES[rule](changed, isOwn), message)
}

const RULES: Record<TurnRule, (message: JsonObject, isOwn: boolean) => JsonObject> = {
  empty_reasoning: message =>
    isToolTurn(message) && typeof message.reasoning_content !== 'string'
      ? { ...message, reasoning_content: '' }
      : message,
  google_signatures: message =>
    isToolTurn(message) && !isSigned(message)
      ? { ...message, tool_calls: asObjects(message.tool_calls).map(addSignature) }
      : message,
  nine_character_ids: shortenIds,
  no_extras: (message, isOwn) => (message.role === 'assistant' && !isOwn ? keepKnownFields(message) : message),
}

/** Google's documented placeholder for the signature of a call that another model created. */
const SKIPPED_SIGNATURE = 'skip_thought_signature_validator'

function addSignature(call: JsonObject): JsonObject {
  const extra = isJsonObject(call.extra_content) ? call.extra_content : {}
  const google = isJsonObject(extra.google) ? extra.google : {}
  return { ...call, extra_content: { ...extra, google: { ...google, thought_signature: SKIPPED_SIGNATURE } } }
}

/** Whether a call of the turn has a signature. Of parallel calls, Google signs one. An aggregator moves signatures to the message. */
function isSigned(message: JsonObject): boolean {
  const isOfGoogle = ({ format }: JsonObject) => typeof format === 'string' && format.startsWith('google-')
  return (
    asObjects(message.reasoning_details).some(isOfGoogle) ||
    asObjects(message.tool_calls).some(({ extra_content: extra }) => {
      const google = isJsonObject(extra) ? extra.google : null
      return isJsonObject(google) && typeof google.thought_signature === 'string' && google.thought_signature !== ''
    })
  )
}

const NINE_CHARACTERS = /^[a-zA-Z0-9]{9}$/

/** Replaces other ids of calls and results. The same id always gets the same replacement. */
function shortenIds(message: JsonObject): JsonObject {
  const { tool_calls: calls, tool_call_id: resultOf } = message
  if (message.role === 'tool' && typeof resultOf === 'string') return { ...message, tool_call_id: shortenId(resultOf) }
  if (!isToolTurn(message)) return message
  const renamed = asObjects(calls).map(call =>
    typeof call.id === 'string' ? { ...call, id: shortenId(call.id) } : call,
  )
  return { ...message, tool_calls: renamed }
}

function shortenId(id: string): string {
  return NINE_CHARACTERS.test(id) ? id : sha256(id).slice(0, 9)
}

function removeAllExtras(message: JsonObject): JsonObject {
  return removeExtras(message, extrasOfTurn(message))
}

/** Removes empty fields as well, because a strict vendor rejects each field that it does not know, even if it is null. */
function keepKnownFields(message: JsonObject): JsonObject {
  const fields = Object.entries(removeAllExtras(message))
  return Object.fromEntries(fields.filter(([name, value]) => name === 'content' || !isEmptyValue(value)))
}

/** Removes all provider extras from a chat request. Returns their names; null if it has none. */
export function omitAllExtras(messages: readonly unknown[]): { messages: unknown[]; names: string[] } | null {
  const names = [...new Set(messages.filter(isJsonObject).flatMap(listExtraNames))]
  const isAssistant = (message: unknown): message is JsonObject => isJsonObject(message) && message.role === 'assistant'
  return names.length === 0
    ? null
    : { messages: messages.map(message => (isAssistant(message) ? removeAllExtras(message) : message)), names }
}
