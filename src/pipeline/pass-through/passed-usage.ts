/** What a passed answer says it used, and what that cost: nothing is counted here, for nobody here knows what a picture weighs. */
import type { Catalogue } from '../../catalogue/catalogue.ts'
import { costUsd, readUsage, type TokenUsage } from '../../catalogue/cost.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../../json/json-object.ts'
import { createSseParser } from '../../openai-format/sse-parser.ts'
import type { PassedContext } from './passed-context.ts'

/** By the names that OpenAI's operations have for it, or aggregators'; null where it tells no tokens and no cost. */
export function readPassedUsage(usage: unknown): TokenUsage | null {
  if (!isJsonObject(usage)) return null
  const prompt = usage.prompt_tokens ?? usage.input_tokens
  const completion = usage.completion_tokens ?? usage.output_tokens
  const isTold = [prompt, completion, usage.total_tokens, usage.cost].some(told => typeof told === 'number')
  if (!isTold) return null
  return readUsage({
    ...usage,
    // Rankings tell of all they read alone.
    prompt_tokens: prompt ?? (completion === undefined ? usage.total_tokens : undefined),
    completion_tokens: completion,
    prompt_tokens_details: usage.prompt_tokens_details ?? usage.input_tokens_details ?? usage.input_token_details,
  })
}

/** Of the event that closes a stream. */
export function readUsageOfEvent(event: Uint8Array): TokenUsage | null {
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
  usage: TokenUsage | null,
  catalogue: Catalogue,
): number | null {
  if (provider.pricedAs === null) return 0
  const model = catalogue.find(provider.pricedAs, query.model)
  if (usage) return costUsd(model, usage)
  return model?.inputUsdPerMillion === 0 && model.outputUsdPerMillion === 0 ? 0 : null
}
