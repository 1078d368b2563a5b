/** What a passed answer says it used, and what that cost: by tokens, by seconds of sound, or by characters to be spoken. */
import type { Catalogue } from '../../catalogue/catalogue.ts'
import { costUsd, NO_USAGE, readUsage, type TokenUsage } from '../../catalogue/cost.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../json/json-object.ts'
import { createSseParser } from '../../openai-format/sse-parser.ts'
import type { CatalogueModel } from '../../postgres/list-models.ts'
import type { PassedContext } from './passed-context.ts'

export interface PassedUsage extends TokenUsage {
  /** Of sound, where that is what is paid for. */
  seconds?: number
  /** Whether some of the tokens that went in are of a kind that the catalogue has no price for. */
  isMixed?: boolean
}

/** By the names that OpenAI's operations have for it, or aggregators'; null where it tells nothing that is paid for. */
export function readPassedUsage(usage: unknown): PassedUsage | null {
  if (!isJsonObject(usage)) return null
  if (usage.type === 'duration' && typeof usage.seconds === 'number') return { ...NO_USAGE, seconds: usage.seconds }
  const prompt = usage.prompt_tokens ?? usage.input_tokens
  const completion = usage.completion_tokens ?? usage.output_tokens
  const isTold = [prompt, completion, usage.total_tokens, usage.cost].some(told => typeof told === 'number')
  if (!isTold) return null
  const details = usage.prompt_tokens_details ?? usage.input_tokens_details ?? usage.input_token_details
  const read = readUsage({
    ...usage,
    // Rankings tell of all they read alone.
    prompt_tokens: prompt ?? (completion === undefined ? usage.total_tokens : undefined),
    completion_tokens: completion,
    prompt_tokens_details: details,
  })
  return read && { ...read, isMixed: isMixed(details) }
}

/** Pictures beside text, text beside sound. */
function isMixed(details: unknown): boolean {
  if (!isJsonObject(details)) return false
  const isSome = (tokens: unknown) => typeof tokens === 'number' && tokens > 0
  return isSome(details.image_tokens) || (isSome(details.audio_tokens) && isSome(details.text_tokens))
}

/** Of the event that closes a stream. */
export function readUsageOfEvent(event: Uint8Array): PassedUsage | null {
  let told: JsonObject | undefined
  const parser = createSseParser(({ data }) => {
    told = parseJsonObject(data)
  })
  parser.push(event)
  parser.end()
  return readPassedUsage(told?.usage)
}

/** US dollars; null where nobody here knows. What costs nothing need not say what it used. */
export function priceOfPassed(
  { provider, query }: Pick<PassedContext, 'provider' | 'query'>,
  usage: PassedUsage | null,
  catalogue: Catalogue,
): number | null {
  if (provider.pricedAs === null) return 0
  if (usage && usage.reportedCostUsd !== null) return usage.reportedCostUsd
  const model = catalogue.find(provider.pricedAs, query.model)
  if (!model) return null
  if (model.inputUsdPerMillion === 0 && model.outputUsdPerMillion === 0) return 0
  if (isPaidByCharacter(model)) return spokenUsd(model, query.body.input)
  if (!usage || usage.isMixed) return null
  if (usage.seconds !== undefined) return (usage.seconds * model.inputUsdPerMillion) / 1_000_000
  return costUsd(model, usage)
}

/** As records have it: the cost that was worked out here stands, and what nobody knows is not priced again. */
export function asPriced(usage: PassedUsage | null, cost: number | null) {
  return { priced: cost !== null, usage: { ...(usage ?? NO_USAGE), reportedCostUsd: cost } }
}

function isPaidByCharacter({ kind, outputUsdPerMillion }: CatalogueModel): boolean {
  return kind === 'speech' && outputUsdPerMillion === 0
}

function spokenUsd({ inputUsdPerMillion }: CatalogueModel, input: unknown): number | null {
  return typeof input === 'string' ? ([...input].length * inputUsdPerMillion) / 1_000_000 : null
}
