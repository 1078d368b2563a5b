/** Whether a model may have written tokens that are charged and that no response shows: read from the request together with the model. */

import { toNativeName } from '../../catalogue/vendor-model-names.ts'
import { readReasoningText } from '../../formats/chat/reasoning-text.ts'
import { asObjects, isJsonObject, type JsonObject } from '../../formats/json/canonical.ts'
import { readRequestedThinking, type ThinkingDialect } from '../../formats/thinking-request.ts'
import type { CatalogueModel } from '../../postgres/list-models.ts'
import { modelTraitsOf } from '../../providers/anthropic/model-traits.ts'
import type { Provider } from '../../providers/upstream.ts'
import { findPricedModel, type PricedCall } from './estimate-usage.ts'

/** Fields that let a provider charge for more than it sends. */
const UNSENT_FIELDS = ['best_of', 'background']

/**
 * Whether a response shows all that is charged: text alone, without tools that the provider runs, and without hidden thoughts. `answer`:
 * the chat response as far as it has come, if it has. An unknown model is taken to think unseen.
 */
export function isAllOutputVisible(call: PricedCall, answer: JsonObject | null = null): boolean {
  const { body, size } = call
  const { isTextOnly, canCompact, hasPrediction, hasAudioOutput, alternatives, fallbacks } = size().bounds
  if (!isTextOnly || canCompact || hasPrediction || hasAudioOutput || alternatives.length + fallbacks.length > 0)
    return false
  if (UNSENT_FIELDS.some(field => (body[field] ?? null) !== null)) return false
  const known = findPricedModel(call)
  if (!known || known.unitPrices.audio_output !== undefined) return false
  if (known.kind === 'completion') return true
  return known.kind === 'chat' && !mayThinkUnseen(call, known, answer)
}

function mayThinkUnseen(call: PricedCall, known: CatalogueModel, answer: JsonObject | null): boolean {
  const { endpoint, body, provider, size } = call
  const { model } = known
  const capabilities = capabilitiesOf(call, known)
  // Of one without any, it is not known what it can.
  if (capabilities.length === 0) return true
  if (!capabilities.includes('reasoning')) return false
  const { isDefault, canBeOff, isHidden } = thinkingOf(model)
  const requested = readRequestedThinking(endpoint, body, dialectOf(provider))
  // A variant that thinks may have its base model's entry in the catalogue.
  const isVariant = size().model.endsWith(':thinking')
  const thinks = requested === 'on' || isVariant || (requested === 'off' ? !canBeOff : isDefault)
  if (answer && showsThoughts(answer)) return isHidden || !areWhole(answer)
  return thinks
}

/** An aggregator's model without any has those of the vendor's own, where the catalogue has that. */
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

function showsThoughts(answer: JsonObject): boolean {
  return messagesOf(answer).some(message => readReasoningText(message) !== '' || hasDetails(message))
}

/** Whether the thoughts are text in every message: neither a summary, nor encrypted. */
function areWhole(answer: JsonObject): boolean {
  return messagesOf(answer).every(
    message =>
      readReasoningText(message) !== '' &&
      asObjects(message.reasoning_details).every(({ type }) => type === 'reasoning.text'),
  )
}

function hasDetails({ reasoning_details: details }: JsonObject): boolean {
  return asObjects(details).length > 0
}

/** How a model thinks, by its name. */
interface ModelThinking {
  /** Whether it thinks when the request does not say. */
  isDefault: boolean
  canBeOff: boolean
  /** Whether what a response shows of its thoughts is at most a summary. */
  isHidden: boolean
}

/** Providers reject a request that turns thinking off for one of these. An aggregator may ignore it. */
const ALWAYS =
  /^o\d|^gpt-5(?!\.\d)|^gpt-oss|^gpt-.*-(?:pro|codex)|^gemini-.*-pro|^grok-4(?!.*fast)|-r1\b|[-:]thinking\b/
/** Their makers do not show thoughts as they are charged. */
const HIDDEN = /^o\d|^gpt-(?!oss)|^codex|^gemini-|^grok-/

/** `model`: as the catalogue names it. */
function thinkingOf(model: string): ModelThinking {
  const name = model.slice(model.lastIndexOf('/') + 1)
  const isAlways = ALWAYS.test(name)
  if (!name.startsWith('claude-')) return { isDefault: true, canBeOff: !isAlways, isHidden: HIDDEN.test(name) }
  const { thinksByDefault, disabledType } = modelTraitsOf(toNativeName('anthropic', name))
  return { isDefault: thinksByDefault || isAlways, canBeOff: disabledType === 'disabled' && !isAlways, isHidden: true }
}
