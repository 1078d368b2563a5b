/** Reads what a pass-through response used and what that cost: by tokens, seconds of audio, or characters of speech input. */
import { costUsd } from '../../catalogue/catalogue.ts'
import { checkReportedCost } from '../../catalogue/reported-cost.ts'
import { isJsonObject } from '../../formats/json/canonical.ts'
import { readTypedEvent } from '../../formats/sse/sse.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import { readAmount } from '../../formats/usage/read-count.ts'
import { readInputUsage } from '../../formats/usage/read-usage.ts'
import type { CatalogueModel } from '../../postgres/list-models.ts'
import type { Provider } from '../../providers/upstream.ts'
import type { PassedQuery } from '../query.ts'
import type { RoutedContext, Stages } from '../request-context.ts'
import type { Estimate, SpentUsage } from '../spending/spent-usage.ts'
import type { Transcript } from './read-transcript.ts'
import { chargedSeconds, MOST_SECONDS } from './sound-length.ts'

export interface PassedUsage extends SpentUsage {
  /** Seconds of audio, when they are what is priced. */
  seconds?: number
  /** Whether input tokens are of several kinds, each of which needs a price. */
  isMixed?: boolean
}

/** Reads the field names of OpenAI's operations and of aggregators; NO_USAGE when nothing that has a price is reported. */
export function readPassedUsage(usage: unknown): PassedUsage {
  if (!isJsonObject(usage)) return NO_USAGE
  const seconds = usage.type === 'duration' ? readAmount(usage.seconds, MOST_SECONDS) : null
  if (seconds !== null) return { ...NO_USAGE, seconds }
  // Rerank responses report only a total of tokens read.
  const read = readInputUsage(usage)
  if (!read) return NO_USAGE
  const details = usage.prompt_tokens_details ?? usage.input_tokens_details ?? usage.input_token_details
  return { ...read, isMixed: isMixed(details) }
}

/** Image tokens beside text, or text tokens beside audio. */
function isMixed(details: unknown): boolean {
  if (!isJsonObject(details)) return false
  const isSome = (tokens: unknown) => typeof tokens === 'number' && tokens > 0
  return isSome(details.image_tokens) || (isSome(details.audio_tokens) && isSome(details.text_tokens))
}

/** Reads the usage in a stream's closing event. */
export function readUsageOfEvent(event: Uint8Array): PassedUsage {
  return readPassedUsage(readTypedEvent(event)?.usage)
}

/** The same without a cost that is not to be believed; NO_USAGE where nothing else was reported. */
export function believedUsage(
  { provider, query }: { provider: Pick<Provider, 'kind' | 'pricedAs'>; query: { model: string } },
  usage: PassedUsage,
  { catalogue }: Pick<Stages, 'catalogue'>,
): PassedUsage {
  const model = provider.pricedAs === null ? undefined : catalogue.find(provider.pricedAs, query.model)
  const checked = checkReportedCost(usage, provider, model)
  const { promptTokens, completionTokens, seconds, toolCalls, reportedCostUsd } = checked
  const isSilent = promptTokens + completionTokens === 0 && seconds === undefined && toolCalls === undefined
  return isSilent && reportedCostUsd === null ? NO_USAGE : checked
}

/** In US dollars; null when the price is unknown. A free operation need not report usage. */
export function priceOfPassed(
  { provider, query }: RoutedContext<PassedQuery>,
  usage: PassedUsage,
  { catalogue }: Stages,
): number | null {
  if (provider.pricedAs === null) return 0
  if (usage.isUnpriced) return null
  if (usage.reportedCostUsd !== null) return usage.reportedCostUsd
  const model = catalogue.find(provider.pricedAs, query.model)
  if (!model) return null
  if (model.inputUsdPerMillion === 0 && model.outputUsdPerMillion === 0) return 0
  if (isPaidByCharacter(model)) return spokenUsd(model, query.body.input)
  return costOfPassed(model, usage)
}

/** What usage by tokens or seconds costs in US dollars; null when the price is unknown. */
export function costOfPassed(model: CatalogueModel, usage: PassedUsage): number | null {
  if (usage === NO_USAGE || (usage.isMixed && !hasPricesFor(model, usage))) return null
  if (isPaidBySecond(model) !== (usage.seconds !== undefined)) return null
  if (usage.seconds !== undefined) return (usage.seconds * model.inputUsdPerMillion) / 1_000_000
  return costUsd(model, usage)
}

/**
 * The same usage with the seconds of sound, where they are what is priced: as the answer reports them, else an estimate.
 */
export function withSeconds(
  { provider, query }: RoutedContext<PassedQuery>,
  usage: PassedUsage,
  transcript: Transcript | null,
  { catalogue }: Stages,
): PassedUsage {
  const model = provider.pricedAs === null ? undefined : catalogue.find(provider.pricedAs, query.model)
  const isKnown = usage.seconds !== undefined || usage.reportedCostUsd !== null
  if (isKnown || !model || !isPaidBySecond(model) || query.sound === null) return usage
  const reported = transcript?.seconds ?? null
  if (reported !== null) return { ...usage, seconds: reported }
  const seconds = chargedSeconds(query.sound, transcript?.toldSeconds)
  return { ...usage, seconds, estimate: MEASURED }
}

const MEASURED: Estimate = { reason: 'not_reported', doubtfulUsd: 0, doubtfulTokens: 0 }

/** What the request costs, whatever its answer says: speech that is paid by the character of its text. Null where the answer decides. */
export function knownAhead(
  { provider, query }: Pick<RoutedContext, 'provider' | 'query'>,
  { catalogue }: Pick<Stages, 'catalogue'>,
): SpentUsage | null {
  const model = provider.pricedAs === null ? undefined : catalogue.find(provider.pricedAs, query.model)
  const usd = model && isPaidByCharacter(model) ? spokenUsd(model, query.body.input) : null
  return usd === null ? null : withCost(NO_USAGE, usd)
}

/** Usage with the cost worked out here, for records. An unknown cost is recorded as none. */
export function withCost(usage: PassedUsage, cost: number | null): SpentUsage {
  return { ...usage, reportedCostUsd: cost ?? 0, isUnpriced: cost === null }
}

/** Whether what is counted apart from text has prices of its own. */
export function hasPricesFor({ unitPrices }: CatalogueModel, usage: PassedUsage): boolean {
  const isKnown = (tokens: number | undefined, price: number | undefined) => !tokens || price !== undefined
  return (
    isKnown(usage.audioPromptTokens, unitPrices.audio_input) &&
    isKnown(usage.imagePromptTokens, unitPrices.image_input) &&
    isKnown(usage.audioCompletionTokens, unitPrices.audio_output)
  )
}

/** Whether the response costs what its seconds of audio cost. */
export function isPricedBySecond(
  { provider, query }: Pick<RoutedContext<PassedQuery>, 'provider' | 'query'>,
  { catalogue }: Pick<Stages, 'catalogue'>,
): boolean {
  const model = provider.pricedAs === null ? undefined : catalogue.find(provider.pricedAs, query.model)
  return query.sound !== null && model !== undefined && isPaidBySecond(model)
}

/** Sound that is transcribed. */
export function isPaidBySecond({ kind, outputUsdPerMillion }: CatalogueModel): boolean {
  return kind === 'transcription' && outputUsdPerMillion === 0
}

function isPaidByCharacter({ kind, outputUsdPerMillion }: CatalogueModel): boolean {
  return kind === 'speech' && outputUsdPerMillion === 0
}

function spokenUsd({ inputUsdPerMillion }: CatalogueModel, input: unknown): number | null {
  return typeof input === 'string' ? ([...input].length * inputUsdPerMillion) / 1_000_000 : null
}
