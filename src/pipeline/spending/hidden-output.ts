/** Decides from the request and the model whether a provider may charge for output tokens that the response does not show. */

import { toNativeName } from '../../catalogue/vendor-model-names.ts'
import { readReasoningText } from '../../formats/chat/content-parts.ts'
import { asObjects, isJsonObject, type JsonObject } from '../../formats/json/canonical.ts'
import { readRequestedThinking, type ThinkingDialect } from '../../formats/thinking-request.ts'
import type { CatalogueModel } from '../../postgres/list-models.ts'
import { modelTraitsOf } from '../../providers/anthropic/request/thinking.ts'
import type { Provider } from '../../providers/upstream.ts'
import { findPricedModel, type PricedCall } from './estimate-usage.ts'

/** Fields that let a provider charge for more than it sends. */
const UNSENT_FIELDS = ['best_of', 'background']

/**
 * Whether a response shows all output that is charged: text alone, without hosted tools and without hidden reasoning. `response` is the
 * chat response as far as it was received, or null. An unknown model is treated as one with hidden reasoning.
 */
export function isAllOutputVisible(call: PricedCall, response: JsonObject | null = null): boolean {
  const { body, size } = call
  const { isTextOnly, canCompact, hasPrediction, hasAudioOutput, alternatives, fallbacks } = size().bounds
  if (!isTextOnly || canCompact || hasPrediction || hasAudioOutput || alternatives.length + fallbacks.length > 0)
    return false
  if (UNSENT_FIELDS.some(field => (body[field] ?? null) !== null)) return false
  const known = findPricedModel(call)
  if (!known || known.unitPrices.audio_output !== undefined) return false
  if (known.kind === 'completion') return true
  return known.kind === 'chat' && !canReasonUnseen(call, known, response)
}

function canReasonUnseen(call: PricedCall, known: CatalogueModel, response: JsonObject | null): boolean {
  const { endpoint, body, provider, size } = call
  const { model } = known
  const capabilities = capabilitiesOf(call, known)
  // A model without listed capabilities is unknown.
  if (capabilities.length === 0) return true
  if (!capabilities.includes('reasoning')) return false
  const { isDefault, canDisable, isHidden } = reasoningTraitsOf(model)
  const requested = readRequestedThinking(endpoint, body, dialectOf(provider))
  // A `:thinking` variant may share its base model's row in the catalogue.
  const isThinkingVariant = size().model.endsWith(':thinking')
  const reasons = requested === 'on' || isThinkingVariant || (requested === 'off' ? !canDisable : isDefault)
  if (response && showsReasoning(response)) return isHidden || !isReasoningComplete(response)
  return reasons
}

/** Returns the model's capabilities. An aggregator's model without any has those of the vendor's row, if there is one. */
function capabilitiesOf({ catalogue }: PricedCall, { model, capabilities }: CatalogueModel): readonly string[] {
  const vendor = model.slice(0, Math.max(0, model.indexOf('/')))
  if (capabilities.length > 0 || vendor === '') return capabilities
  return catalogue.find(vendor, model)?.capabilities ?? capabilities
}

function dialectOf({ kind }: Pick<Provider, 'kind'>): ThinkingDialect {
  if (kind === 'anthropic' || kind === 'aggregator') return kind
  return kind === 'openai' || kind === 'groq' ? 'openai' : 'other'
}

function messagesOf({ choices }: JsonObject): JsonObject[] {
  return asObjects(choices).flatMap(({ message }) => (isJsonObject(message) ? [message] : []))
}

function showsReasoning(response: JsonObject): boolean {
  return messagesOf(response).some(message => readReasoningText(message) !== '' || hasDetails(message))
}

/** Whether the reasoning is plain text in every message: neither summarized nor encrypted. */
function isReasoningComplete(response: JsonObject): boolean {
  return messagesOf(response).every(
    message =>
      readReasoningText(message) !== '' &&
      asObjects(message.reasoning_details).every(({ type }) => type === 'reasoning.text'),
  )
}

function hasDetails({ reasoning_details: details }: JsonObject): boolean {
  return asObjects(details).length > 0
}

/** The reasoning behaviour of a model, by its name. */
interface ReasoningTraits {
  /** Whether the model reasons if the request does not mention reasoning. */
  isDefault: boolean
  canDisable: boolean
  /** Whether responses show no more than a summary of the reasoning. */
  isHidden: boolean
}

/** Models whose reasoning cannot be disabled: providers reject such a request, and aggregators may ignore the setting. */
const ALWAYS_REASONS =
  /^o\d|^gpt-5(?!\.\d)|^gpt-oss|^gpt-.*-(?:pro|codex)|^gemini-.*-pro|^grok-4(?!.*fast)|-r1\b|[-:]thinking\b/
/** Models whose vendors do not show all reasoning that they charge. */
const HIDES_REASONING = /^o\d|^gpt-(?!oss)|^codex|^gemini-|^grok-/

/** `model` is the catalogue's name. */
function reasoningTraitsOf(model: string): ReasoningTraits {
  const name = model.slice(model.lastIndexOf('/') + 1)
  const isAlways = ALWAYS_REASONS.test(name)
  if (!name.startsWith('claude-'))
    return { isDefault: true, canDisable: !isAlways, isHidden: HIDES_REASONING.test(name) }
  const { thinksByDefault, disabledType } = modelTraitsOf(toNativeName('anthropic', name))
  return {
    isDefault: thinksByDefault || isAlways,
    canDisable: disabledType === 'disabled' && !isAlways,
    isHidden: true,
  }
}
