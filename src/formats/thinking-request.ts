/** Reads whether a request turns a model's thinking on or off. */
import { isJsonObject, isPresent, type JsonObject } from './json/canonical.ts'

/** Null: the request does not say, and the model's default applies. */
export type RequestedThinking = 'on' | 'off' | null

/** What the provider understands. `other`: it may ignore any field. */
export type ThinkingDialect = 'anthropic' | 'openai' | 'aggregator' | 'other'

/** A field turns thinking off only where the provider understands it, and on anywhere. One field that turns it on outweighs the others. */
export function readRequestedThinking(endpoint: string, body: JsonObject, dialect: ThinkingDialect): RequestedThinking {
  const { reasoning_effort: effort, reasoning, thinking, include_reasoning: isIncluded } = body
  const isChat = endpoint === 'chat' && dialect !== 'other'
  const isResponses = endpoint === 'responses' && dialect !== 'other'
  const fields = [
    readField(effort, effort === 'none', isChat),
    readField(reasoning, turnsOff(reasoning), isResponses ? hasEffort(reasoning) : isChat && dialect === 'aggregator'),
    // In a request that is translated for another provider it is omitted.
    readField(thinking, isJsonObject(thinking) && thinking.type === 'disabled', dialect === 'anthropic'),
    isIncluded === true ? 'on' : null,
  ]
  return fields.find(field => field === 'on') ?? fields.find(field => field === 'off') ?? null
}

function readField(value: unknown, isOff: boolean, isUnderstood: boolean): RequestedThinking {
  if (!isPresent(value)) return null
  if (!isOff) return 'on'
  return isUnderstood ? 'off' : null
}

function turnsOff(reasoning: unknown): boolean {
  if (!isJsonObject(reasoning)) return false
  const { effort, enabled } = reasoning
  return effort === 'none' || (enabled === false && !isPresent(effort))
}

/** At Responses nothing else turns it off. */
function hasEffort(reasoning: unknown): boolean {
  return isJsonObject(reasoning) && isPresent(reasoning.effort)
}
