/** Reads whether a request turns a model's thinking on or off. */
import { isJsonObject, isPresent, type JsonObject } from './json/canonical.ts'

/** Null when the request does not set it and the model's default applies. */
export type RequestedThinking = 'on' | 'off' | null

/** The fields that the provider supports. `other`: it may ignore any field. */
export type ThinkingDialect = 'anthropic' | 'openai' | 'aggregator' | 'other'

/** Returns the requested thinking. A field turns thinking off only if the provider supports it, but on in any case. `on` outweighs `off`. */
export function readRequestedThinking(endpoint: string, body: JsonObject, dialect: ThinkingDialect): RequestedThinking {
  const { reasoning_effort: effort, reasoning, thinking, include_reasoning: isIncluded } = body
  const isChat = (endpoint === 'chat' || endpoint === 'generate_content') && dialect !== 'other'
  const isResponses = endpoint === 'responses' && dialect !== 'other'
  const fields = [
    readField(effort, effort === 'none', isChat),
    readField(reasoning, turnsOff(reasoning), isResponses ? hasEffort(reasoning) : isChat && dialect === 'aggregator'),
    // The field is omitted from requests that are translated for another provider.
    readField(thinking, isJsonObject(thinking) && thinking.type === 'disabled', dialect === 'anthropic'),
    isIncluded === true ? 'on' : null,
  ]
  return fields.find(field => field === 'on') ?? fields.find(field => field === 'off') ?? null
}

function readField(value: unknown, isOff: boolean, isSupported: boolean): RequestedThinking {
  if (!isPresent(value)) return null
  if (!isOff) return 'on'
  return isSupported ? 'off' : null
}

function turnsOff(reasoning: unknown): boolean {
  if (!isJsonObject(reasoning)) return false
  const { effort, enabled } = reasoning
  return effort === 'none' || (enabled === false && !isPresent(effort))
}

/** Whether `reasoning` sets an effort, the only field that turns thinking off in the Responses API. */
function hasEffort(reasoning: unknown): boolean {
  return isJsonObject(reasoning) && isPresent(reasoning.effort)
}
