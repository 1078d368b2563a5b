/** Translates an OpenAI chat request into an Anthropic request. */
import type { Metadata, ThinkingConfigParam, Tool, ToolChoice } from '@anthropic-ai/sdk/resources/messages'
import { invalidRequestError } from '../../../errors/errors.ts'
import type { JsonObject } from '../../../formats/json/canonical.ts'
import { readArray, readEnum, readObject, readOptional, readString } from '../../../formats/json/read-fields.ts'
import type { MessagesRequest } from '../messages-request.ts'
import { type ModelTraits, modelTraitsOf } from '../model-traits.ts'
import { pickAnthropicFields } from './check-fields.ts'
import { keepCurrentThinkingBlocks, startsWithThinkingBlock } from './current-thinking-blocks.ts'
import { hashPersonalId } from './hash-personal-id.ts'
import { type ThinkingSettings, translateEffort } from './translate-effort.ts'
import { type OutputFormat, translateResponseFormat } from './translate-format.ts'
import { type Conversation, type Turn, translateMessages } from './translate-messages.ts'
import { readMaxTokens, translateSampling, translateStopSequences } from './translate-sampling.ts'
import { translateToolChoice } from './translate-tool-choice.ts'
import { declareCalledTools, translateTools } from './translate-tools.ts'

export interface ModelLimits {
  /** Most tokens that the model can write; null when unknown. */
  maxOutputTokens: number | null
  /** Whether the prompt is marked for Anthropic's cache. */
  addsCacheBreakpoints?: boolean
}

/** Throws a 400 that names a field without a counterpart at Anthropic, or one that OpenAI would refuse. */
export function translateRequest(body: JsonObject, limits: ModelLimits): MessagesRequest {
  const own = pickAnthropicFields(body)
  const model = readString(body.model, 'model')
  const traits = modelTraitsOf(model)
  const maxTokens = readMaxTokens(body, limits.maxOutputTokens)
  const conversation = translateMessages(readArray(body.messages, 'messages'))
  const thought = translateThinking(body, own, traits, maxTokens, conversation)
  const format = translateResponseFormat(body)
  const { upstream: stops } = translateStopSequences(body)
  const request: MessagesRequest = {
    model,
    max_tokens: maxTokens,
    ...translateSystem(conversation, format),
    messages: thought.turns.map(({ role, content }) => ({ role, content })),
    ...(stops.length === 0 ? {} : { stop_sequences: stops }),
    ...translateSampling(body, asksForThinking(thought.thinking)),
    ...translateToolUse(body, conversation, thought.thinking),
    ...(thought.thinking === undefined ? {} : { thinking: thought.thinking }),
    ...translateOutput(thought, format),
    ...translateMetadata(body),
    ...translateTier(body),
    ...(body.stream === true ? { stream: true } : {}),
  }
  return addOwn(request, own)
}

/** Adds the fields that are Anthropic's own. Throws a 400 when the translation has set the same field. */
function addOwn(request: MessagesRequest, own: JsonObject): MessagesRequest {
  for (const field of Object.keys(own)) {
    if (!Object.hasOwn(request, field)) continue
    throw invalidRequestError(`${field} is already set by other fields of this request, in OpenAI’s form.`, field)
  }
  return { ...request, ...own }
}

function translateThinking(
  body: JsonObject,
  own: JsonObject,
  traits: ModelTraits,
  maxTokens: number,
  conversation: Conversation,
): ThinkingSettings & { turns: Turn[] } {
  const asked = translateEffort(body, traits, maxTokens)
  const turns = keepCurrentThinkingBlocks(conversation, thinks(asked.thinking ?? own.thinking, traits))
  // With a budget, Anthropic demands the thinking blocks before the calls. For a client that lost them, thinking is left off.
  if (asked.thinking?.type !== 'enabled' || startsWithThinkingBlock(turns)) return { ...asked, turns }
  return { turns: keepCurrentThinkingBlocks(conversation, false) }
}

function asksForThinking(thinking: ThinkingConfigParam | undefined): boolean {
  return thinking?.type === 'enabled' || thinking?.type === 'adaptive'
}

function thinks(thinking: unknown, { thinksByDefault }: ModelTraits): boolean {
  if (typeof thinking !== 'object' || thinking === null) return thinksByDefault
  return !('type' in thinking && thinking.type === 'disabled')
}

function translateSystem({ system }: Conversation, { instruction }: OutputFormat): Pick<MessagesRequest, 'system'> {
  const all = instruction ? [...system, instruction] : system
  return all.length === 0 ? {} : { system: all }
}

function translateToolUse(
  body: JsonObject,
  { calledNames }: Conversation,
  thinking: ThinkingConfigParam | undefined,
): { tools?: Tool[]; tool_choice?: ToolChoice } {
  const { tools, choice } = translateToolChoice(body, translateTools(body))
  if (tools.length === 0) {
    return calledNames.size === 0 ? {} : { tools: declareCalledTools(calledNames), tool_choice: { type: 'none' } }
  }
  const isForced = choice?.type === 'any' || choice?.type === 'tool'
  if (isForced && thinking?.type === 'enabled') {
    throw invalidRequestError(
      'tool_choice cannot demand a call while this model thinks; leave reasoning_effort out.',
      'tool_choice',
    )
  }
  return choice ? { tools, tool_choice: choice } : { tools }
}

function translateOutput(
  { effort }: ThinkingSettings,
  { format }: OutputFormat,
): Pick<MessagesRequest, 'output_config'> {
  if (effort === undefined && format === undefined) return {}
  return { output_config: { ...(effort ? { effort } : {}), ...(format ? { format } : {}) } }
}

function translateMetadata(body: JsonObject): { metadata?: Metadata } {
  for (const field of ['safety_identifier', 'user']) {
    const given = readOptional(body, field)
    if (given !== undefined) return { metadata: { user_id: hashPersonalId(readString(given, field)) } }
  }
  const tagged = readOptional(readObject(readOptional(body, 'metadata') ?? {}, 'metadata'), 'user_id')
  return tagged === undefined ? {} : { metadata: { user_id: hashPersonalId(readString(tagged, 'metadata.user_id')) } }
}

function translateTier(body: JsonObject): Pick<MessagesRequest, 'service_tier'> {
  const given = readOptional(body, 'service_tier')
  if (given === undefined) return {}
  const tier = readEnum(given, 'service_tier', ['auto', 'default'])
  return { service_tier: tier === 'default' ? 'standard_only' : 'auto' }
}
