/** Translates an OpenAI chat request into an Anthropic request. */
import type { Metadata, ThinkingConfigParam, Tool, ToolChoice } from '@anthropic-ai/sdk/resources/messages'
import { invalidRequestError } from '../../../errors/errors.ts'
import { type JsonObject, sha256 } from '../../../formats/json/canonical.ts'
import { readArray, readEnum, readObject, readOptional, readString } from '../../../formats/json/read-fields.ts'
import { pickAnthropicFields } from '../field-rules.ts'
import type { MessagesRequest } from '../messages-request.ts'
import { type ThinkingSettings, translateThinking } from './thinking.ts'
import { type OutputFormat, translateResponseFormat } from './translate-format.ts'
import { type Conversation, translateMessages } from './translate-messages.ts'
import { readMaxTokens, translateSampling, translateStopSequences } from './translate-sampling.ts'
import { declareCalledTools, translateToolChoice, translateTools } from './translate-tools.ts'

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
  const maxTokens = readMaxTokens(body, limits.maxOutputTokens)
  const conversation = translateMessages(readArray(body.messages, 'messages'))
  const settings = translateThinking(body, anthropicFields, maxTokens, conversation)
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

function isThinkingRequested(thinking: ThinkingConfigParam | undefined): boolean {
  return thinking?.type === 'enabled' || thinking?.type === 'adaptive'
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

/** The upper bound on the characters of an e-mail address. A longer text is neither an address nor a phone number. */
const MAX_PERSONAL_CHARS = 320
const EMAIL = /^[^@\s]+@[^@\s][^@\s.]*\.[^@\s]+$/
/** Matches phone numbers: digits with a leading plus, in groups, or 7 to 15 of them. */
const PHONE = /^(?:\+[\d\s().\-/]+|\(?\d+\)?(?:[\s().\-/]+\d+)+|\d{7,15})$/
const PHONE_DIGITS = { min: 7, max: 15 }

/**
 * Returns the SHA-256 of an e-mail address or phone number, regardless of its spacing, because Anthropic asks for an id that does not identify a
 * person. Returns any other id unchanged.
 */
export function hashPersonalId(id: string): string {
  const trimmed = id.trim()
  if (trimmed.length > MAX_PERSONAL_CHARS) return id
  if (EMAIL.test(trimmed)) return sha256(trimmed.toLowerCase())
  const digits = trimmed.replace(/\D/g, '')
  const isPhone = PHONE.test(trimmed) && digits.length >= PHONE_DIGITS.min && digits.length <= PHONE_DIGITS.max
  return isPhone ? sha256(digits) : id
}
