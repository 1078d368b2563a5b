/** Parses a published table of vendors' prices: LiteLLM's `model_prices_and_context_window.json` or models.dev's `api.json`. */
import { asString, isJsonObject, type JsonObject } from '../formats/json/canonical.ts'

/** A model's price, or one that replaces it under a condition, in US dollars per million tokens. Null when the table does not contain it. */
export interface PublishedPrice {
  provider: string
  model: string
  tier: 'standard' | 'flex' | 'priority'
  above_prompt_tokens: number
  input_usd_per_million: number
  cached_input_usd_per_million: number | null
  cache_write_usd_per_million: number | null
  cache_write_hour_usd_per_million: number | null
  output_usd_per_million: number
}

/** Vendors by their names in the tables. */
export type PriceSources = ReadonlyMap<string, string>

/** Parses the prices of these vendors. Throws when the table has another format, or no price of these vendors. */
export function parsePublishedPrices(table: unknown, sources: PriceSources): PublishedPrice[] {
  if (!isJsonObject(table)) throw new Error('price table must be a JSON object')
  const entries = Object.entries(table).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
  const isLiteLlm = entries.some(([, entry]) => typeof entry.litellm_provider === 'string')
  const prices = isLiteLlm
    ? entries.flatMap(([name, entry]) => readLiteLlm(name, entry, sources))
    : entries.flatMap(([source, { models }]) => readModelsDev(sources.get(source), models))
  if (prices.length > 0) return prices
  throw new Error(
    `price table has no price of ${[...new Set(sources.values())].join(', ')} in the format of LiteLLM or models.dev`,
  )
}

const LITELLM_KINDS: Readonly<Record<string, 'chat' | 'embedding'>> = {
  chat: 'chat',
  responses: 'chat',
  embedding: 'embedding',
}
/** Matches `input_cost_per_token` and its condition. */
const LITELLM_INPUT = /^input_cost_per_token((?:_above_(\d+)k_tokens)?(?:_(flex|priority))?)$/

function readLiteLlm(name: string, entry: JsonObject, sources: PriceSources): PublishedPrice[] {
  const { litellm_provider, mode } = entry
  const source = asString(litellm_provider)
  const provider = sources.get(source)
  const kind = LITELLM_KINDS[asString(mode)]
  if (provider === undefined || kind === undefined) return []
  const model = name.startsWith(`${source}/`) ? name.slice(source.length + 1) : name
  return Object.keys(entry).flatMap(key => {
    const [, condition = '', thousands, tier] = LITELLM_INPUT.exec(key) ?? []
    const input = perMillion(entry[key])
    const output = perMillion(entry[`output_cost_per_token${condition}`]) ?? (kind === 'embedding' ? 0 : null)
    // The catalogue has long-prompt prices for the standard tier only.
    if (!LITELLM_INPUT.test(key) || input === null || output === null || (thousands && tier)) return []
    return {
      provider,
      model,
      tier: (tier as PublishedPrice['tier'] | undefined) ?? 'standard',
      above_prompt_tokens: Number(thousands ?? 0) * 1_000,
      input_usd_per_million: input,
      cached_input_usd_per_million: perMillion(entry[`cache_read_input_token_cost${condition}`]),
      cache_write_usd_per_million: perMillion(entry[`cache_creation_input_token_cost${condition}`]),
      cache_write_hour_usd_per_million: perMillion(entry[`cache_creation_input_token_cost_above_1hr${condition}`]),
      output_usd_per_million: output,
    }
  })
}

/** Converts LiteLLM's US dollars per token, which are inexact in binary, to US dollars per million. */
function perMillion(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 ? Number((value * 1e6).toPrecision(9)) : null
}

function readModelsDev(provider: string | undefined, models: unknown): PublishedPrice[] {
  if (provider === undefined || !isJsonObject(models)) return []
  return Object.entries(models).flatMap(([model, entry]) => {
    const cost = isJsonObject(entry) && isJsonObject(entry.cost) ? entry.cost : {}
    const long = isJsonObject(cost.context_over_200k) ? cost.context_over_200k : {}
    return [
      { ...cost, above: 0 },
      { ...long, above: 200_000 },
    ].flatMap(({ above, ...price }: JsonObject & { above: number }): PublishedPrice[] => {
      const [input, output] = [readUsd(price.input), readUsd(price.output)]
      if (input === null || output === null) return []
      return [
        {
          provider,
          model,
          tier: 'standard',
          above_prompt_tokens: above,
          input_usd_per_million: input,
          cached_input_usd_per_million: readUsd(price.cache_read),
          cache_write_usd_per_million: readUsd(price.cache_write),
          cache_write_hour_usd_per_million: null,
          output_usd_per_million: output,
        },
      ]
    })
  })
}

function readUsd(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 ? value : null
}
