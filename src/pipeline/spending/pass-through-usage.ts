/** Reads a pass-through response's usage and computes its cost: by tokens, seconds of audio, or characters of speech input. */
import { type Catalogue, computeCostUsd } from '../../catalogue/catalogue.ts'
import { omitImplausibleCost } from '../../catalogue/reported-cost.ts'
import { isJsonObject } from '../../formats/json/canonical.ts'
import { parseEventData } from '../../formats/sse/sse.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import { readAmount } from '../../formats/usage/read-count.ts'
import { readInputUsage } from '../../formats/usage/read-usage.ts'
import type { CatalogueModel } from '../../postgres/list-models.ts'
import type { Provider } from '../../providers/upstream.ts'
import { estimateAudioSeconds, MAX_AUDIO_SECONDS } from '../request/audio-length.ts'
import type { PassThroughQuery, Query } from '../request/query.ts'
import type { CallUsage, UsageEstimate } from './call-usage.ts'

export interface PassThroughUsage extends CallUsage {
  /** Seconds of audio, if the model is priced by the second. */
  seconds?: number
  /** Whether the input has tokens of several kinds. Each kind then needs a price. */
  hasMixedInput?: boolean
}

/** How long the audio of a transcript is. */
export interface Transcript {
  /** The duration that the response reports; null if it reports none. */
  seconds: number | null
  /** The end of the last segment, else how long it takes to say the whole text slowly. */
  estimatedSeconds: number
}

/** A pass-through request and its provider. */
interface PassThroughCall {
  provider: Provider
  query: PassThroughQuery
}

interface Prices {
  catalogue: Catalogue
}

/** Reads usage in the field names of OpenAI and of aggregators. Returns NO_USAGE if nothing that has a price is reported. */
export function readPassThroughUsage(usage: unknown): PassThroughUsage {
  if (!isJsonObject(usage)) return NO_USAGE
  const seconds = usage.type === 'duration' ? readAmount(usage.seconds, MAX_AUDIO_SECONDS) : null
  if (seconds !== null) return { ...NO_USAGE, seconds }
  // Rerank responses report only a total of tokens read.
  const read = readInputUsage(usage)
  if (!read) return NO_USAGE
  const details = usage.prompt_tokens_details ?? usage.input_tokens_details ?? usage.input_token_details
  return { ...read, hasMixedInput: isMixed(details) }
}

/** Whether there are image tokens, or both text and audio tokens. */
function isMixed(details: unknown): boolean {
  if (!isJsonObject(details)) return false
  const isSome = (tokens: unknown) => typeof tokens === 'number' && tokens > 0
  return isSome(details.image_tokens) || (isSome(details.audio_tokens) && isSome(details.text_tokens))
}

/** Reads the usage in a stream's closing event. */
export function readEventUsage(event: Uint8Array): PassThroughUsage {
  return readPassThroughUsage(parseEventData(event)?.usage)
}

/** Returns the usage without an implausible cost; NO_USAGE if nothing else was reported. */
export function validateReportedUsage(
  { provider, query }: { provider: Pick<Provider, 'kind' | 'pricedAs'>; query: { model: string } },
  usage: PassThroughUsage,
  { catalogue }: Prices,
): PassThroughUsage {
  const model = catalogue.find(provider.pricedAs, query.model)
  const checked = omitImplausibleCost(usage, provider, model)
  const { promptTokens, completionTokens, seconds, toolCalls, reportedCostUsd } = checked
  const isEmpty = promptTokens + completionTokens === 0 && seconds === undefined && toolCalls === undefined
  return isEmpty && reportedCostUsd === null ? NO_USAGE : checked
}

/** Returns the cost in US dollars; null if the price is unknown. A free operation need not report usage. */
export function calculatePassThroughCost(
  { provider, query }: { provider: Provider; query: Query },
  usage: PassThroughUsage,
  { catalogue }: Prices,
): number | null {
  if (provider.pricedAs === null) return 0
  if (usage.isUnpriced) return null
  if (usage.reportedCostUsd !== null) return usage.reportedCostUsd
  const model = catalogue.find(provider.pricedAs, query.model)
  if (!model) return null
  if (model.inputUsdPerMillion === 0 && model.outputUsdPerMillion === 0) return 0
  if (isPaidByCharacter(model)) return calculateSpeechCost(model, query.body.input)
  return calculateUsageCost(model, usage)
}

/** Returns the cost of tokens or seconds in US dollars; null if the price is unknown. */
export function calculateUsageCost(model: CatalogueModel, usage: PassThroughUsage): number | null {
  if (usage === NO_USAGE || (usage.hasMixedInput && !hasUnitPrices(model, usage))) return null
  if (isModelBilledBySecond(model) !== (usage.seconds !== undefined)) return null
  if (usage.seconds !== undefined) return (usage.seconds * model.inputUsdPerMillion) / 1_000_000
  return computeCostUsd(model, usage)
}

/**
 * Adds the seconds of audio, if the model is priced by the second: those that the response reports, else an estimate.
 */
export function addAudioSeconds(
  { provider, query }: PassThroughCall,
  usage: PassThroughUsage,
  transcript: Transcript | null,
  { catalogue }: Prices,
): PassThroughUsage {
  const model = catalogue.find(provider.pricedAs, query.model)
  const isKnown = usage.seconds !== undefined || usage.reportedCostUsd !== null
  if (isKnown || !model || !isModelBilledBySecond(model) || query.audio === null) return usage
  const reported = transcript?.seconds ?? null
  if (reported !== null) return { ...usage, seconds: reported }
  const seconds = estimateAudioSeconds(query.audio, transcript?.estimatedSeconds)
  return { ...usage, seconds, estimate: ESTIMATED_SECONDS }
}

const ESTIMATED_SECONDS: UsageEstimate = { reason: 'not_reported', doubtfulUsd: 0, doubtfulTokens: 0 }

/** Returns the usage that the request alone determines: speech is priced by the character of its text. Null if the response decides. */
export function resolveUpfrontUsage(
  { provider, query }: { provider: Provider; query: Query },
  { catalogue }: Prices,
): CallUsage | null {
  const model = catalogue.find(provider.pricedAs, query.model)
  const usd = model && isPaidByCharacter(model) ? calculateSpeechCost(model, query.body.input) : null
  return usd === null ? null : applyCost(NO_USAGE, usd)
}

/** Returns the usage with the computed cost. An unknown cost is recorded as 0 and unpriced. */
export function applyCost(usage: PassThroughUsage, cost: number | null): CallUsage {
  return { ...usage, reportedCostUsd: cost ?? 0, isUnpriced: cost === null }
}

/** Whether the catalogue has a price for each kind of tokens that is not text. */
export function hasUnitPrices({ unitPrices }: CatalogueModel, usage: PassThroughUsage): boolean {
  const isKnown = (tokens: number | undefined, price: number | undefined) => !tokens || price !== undefined
  return (
    isKnown(usage.audioPromptTokens, unitPrices.audio_input) &&
    isKnown(usage.imagePromptTokens, unitPrices.image_input) &&
    isKnown(usage.audioCompletionTokens, unitPrices.audio_output)
  )
}

/** Whether the call is priced by its seconds of audio. */
export function isBilledBySecond({ provider, query }: PassThroughCall, { catalogue }: Prices): boolean {
  const model = catalogue.find(provider.pricedAs, query.model)
  return query.audio !== null && model !== undefined && isModelBilledBySecond(model)
}

/** Whether the model transcribes, and is priced by the second. */
export function isModelBilledBySecond({ kind, outputUsdPerMillion }: CatalogueModel): boolean {
  return kind === 'transcription' && outputUsdPerMillion === 0
}

function isPaidByCharacter({ kind, outputUsdPerMillion }: CatalogueModel): boolean {
  return kind === 'speech' && outputUsdPerMillion === 0
}

function calculateSpeechCost({ inputUsdPerMillion }: CatalogueModel, input: unknown): number | null {
  return typeof input === 'string' ? ([...input].length * inputUsdPerMillion) / 1_000_000 : null
}
