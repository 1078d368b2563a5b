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
  /** The largest number of tokens that the model can write; null when unknown. */
  maxOutputTokens: number | null
  /** Whether cache breakpoints are added to the prompt. */
  addsCacheBreakpoints?: boolean
}

/** Throws a 400 that names a field without a counterpart at Anthropic, or a field that OpenAI would reject. */
export function translateRequest(body: JsonObject, limits: ModelLimits): MessagesRequest {
  const anthropicFields = pickAnthropicFields(body)
  const model = readString(body.model, 'model')
  const traits = modelTraitsOf(model)
  const maxTokens = readMaxTokens(body, limits.maxOutputTokens)
  const conversation = translateMessages(readArray(body.messages, 'messages'))
  const settings = translateThinking(body, anthropicFields, traits, maxTokens, conversation)
  const format = translateResponseFormat(body)
  const { upstream: stops } = translateStopSequences(body)
  const request: MessagesRequest = {
    model,
    max_tokens: maxTokens,
    ...translateSystem(conversation, format),
    messages: settings.turns.map(({ role, content }) => ({ role, content })),
    ...(stops.length === 0 ? {} : { stop_sequences: stops }),
    ...translateSampling(body, isThinkingRequested(settings.thinking)),
    ...translateToolUse(body, conversation, settings.thinking),
    ...(settings.thinking === undefined ? {} : { thinking: settings.thinking }),
    ...translateOutput(settings, format),
    ...translateMetadata(body),
    ...translateTier(body),
    ...(body.stream === true ? { stream: true } : {}),
  }
  return addAnthropicFields(request, anthropicFields)
}

/** Adds the fields that only Anthropic has. Throws a 400 when the translation has set the same field. */
function addAnthropicFields(request: MessagesRequest, anthropicFields: JsonObject): MessagesRequest {
  for (const field of Object.keys(anthropicFields)) {
    if (!Object.hasOwn(request, field)) continue
    throw invalidRequestError(
      `${field} is already set by other fields of this request, in OpenAI’s format. Omit one of them.`,
      field,
    )
  }
  return { ...request, ...anthropicFields }
}

function translateThinking(
  body: JsonObject,
  anthropicFields: JsonObject,
  traits: ModelTraits,
  maxTokens: number,
  conversation: Conversation,
): ThinkingSettings & { turns: Turn[] } {
  const requested = translateEffort(body, traits, maxTokens)
  const isThinking = isThinkingEnabled(requested.thinking ?? anthropicFields.thinking, traits)
  const turns = keepCurrentThinkingBlocks(conversation, isThinking)
  // With a budget, Anthropic requires the thinking blocks before the calls. For a client that omits them, thinking is turned off.
  if (requested.thinking?.type !== 'enabled' || startsWithThinkingBlock(turns)) return { ...requested, turns }
  return { turns: keepCurrentThinkingBlocks(conversation, false) }
}

function isThinkingRequested(thinking: ThinkingConfigParam | undefined): boolean {
  return thinking?.type === 'enabled' || thinking?.type === 'adaptive'
}

function isThinkingEnabled(thinking: unknown, { thinksByDefault }: ModelTraits): boolean {
  if (typeof thinking !== 'object' || thinking === null) return thinksByDefault
  return !('type' in thinking && thinking.type === 'disabled')
}

function translateSystem({ system }: Conversation, { instruction }: OutputFormat): Pick<MessagesRequest, 'system'> {
  const blocks = instruction ? [...system, instruction] : system
  return blocks.length === 0 ? {} : { system: blocks }
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
      'tool_choice must not require a call while this model thinks. Omit reasoning_effort.',
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
    const id = readOptional(body, field)
    if (id !== undefined) return { metadata: { user_id: hashPersonalId(readString(id, field)) } }
  }
  const userId = readOptional(readObject(readOptional(body, 'metadata') ?? {}, 'metadata'), 'user_id')
  return userId === undefined ? {} : { metadata: { user_id: hashPersonalId(readString(userId, 'metadata.user_id')) } }
}

function translateTier(body: JsonObject): Pick<MessagesRequest, 'service_tier'> {
  const requested = readOptional(body, 'service_tier')
  if (requested === undefined) return {}
  const tier = readEnum(requested, 'service_tier', ['auto', 'default'])
  return { service_tier: tier === 'default' ? 'standard_only' : 'auto' }
}
