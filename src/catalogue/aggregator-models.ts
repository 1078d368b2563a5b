/** Converts the aggregator's list of models, in OpenRouter's format, to rows of the catalogue. */
import { isJsonObject } from '../formats/json/canonical.ts'

/** A model of the aggregator. Prices are in US dollars per million tokens. */
export interface AggregatorModel {
  model: string
  kind: 'chat' | 'embedding'
  context_tokens: number | null
  max_output_tokens: number | null
  input_usd_per_million: number
  cached_input_usd_per_million: number | null
  cache_write_usd_per_million: number | null
  output_usd_per_million: number
  /** Fee per request, in US dollars. */
  request_usd: number
  /** Capabilities, sorted. */
  capabilities: string[]
}

export interface AggregatorModelPage {
  models: AggregatorModel[]
  /** Number of models without a fixed price or a usable name. */
  skipped: number
}

const MAX_INTEGER = 2_147_483_647
/** A higher price must be a mistake in the unit. */
const MAX_USD_PER_MILLION = 100_000
const MAX_REQUEST_USD = 1_000

/** Reads a page of models. Throws when the body is not a list of models. */
export function parseModelPage(body: unknown): AggregatorModelPage {
  if (!isJsonObject(body) || !Array.isArray(body.data)) throw new Error('response has no list of models in `data`')
  const models = body.data.flatMap((item: unknown) => readModel(item) ?? [])
  return { models, skipped: body.data.length - models.length }
}

function readModel(item: unknown): AggregatorModel | null {
  if (!isJsonObject(item) || !isJsonObject(item.pricing)) return null
  const { id, pricing } = item
  if (typeof id !== 'string' || !/^\S{1,250}$/.test(id)) return null
  const input = readPrice(pricing.prompt)
  const output = readPrice(pricing.completion)
  const request = readFee(pricing.request, SEARCH_MODEL.test(id) ? pricing.web_search : 0)
  if (input === null || output === null || request === null) return null
  const architecture = isJsonObject(item.architecture) ? item.architecture : {}
  const provider = isJsonObject(item.top_provider) ? item.top_provider : {}
  return {
    model: id,
    kind: includesValue(architecture.output_modalities, 'embeddings') ? 'embedding' : 'chat',
    context_tokens: readCount(item.context_length) ?? readCount(provider.context_length),
    max_output_tokens: readCount(provider.max_completion_tokens),
    input_usd_per_million: input,
    // The list has 0 for a model without caching.
    cached_input_usd_per_million: readPrice(pricing.input_cache_read) || null,
    cache_write_usd_per_million: readPrice(pricing.input_cache_write) || null,
    output_usd_per_million: output,
    request_usd: request,
    capabilities: readCapabilities(architecture.input_modalities, item.supported_parameters),
  }
}

function readCapabilities(modalities: unknown, parameters: unknown): string[] {
  const has: Record<string, boolean> = {
    audio: includesValue(modalities, 'audio'),
    files: includesValue(modalities, 'file'),
    images: includesValue(modalities, 'image'),
    reasoning: includesValue(parameters, 'reasoning'),
    structured_output: includesValue(parameters, 'structured_outputs'),
    tools: includesValue(parameters, 'tools'),
  }
  return Object.keys(has).filter(capability => has[capability])
}

function includesValue(list: unknown, value: string): boolean {
  return Array.isArray(list) && list.includes(value)
}

/** Converts US dollars per token, as text, to US dollars per million. Null for a varying price, which the list writes as -1. */
function readPrice(usdPerToken: unknown): number | null {
  if (typeof usdPerToken !== 'string' || usdPerToken.trim() === '') return null
  const usdPerMillion = Math.round(Number(usdPerToken) * 1e12) / 1e6
  return usdPerMillion >= 0 && usdPerMillion <= MAX_USD_PER_MILLION ? usdPerMillion : null
}

/** Models that search the web in every request. */
const SEARCH_MODEL = /^perplexity\/|-search-preview/

/** Returns the sum of fees per request in US dollars. An omitted fee counts as 0. Null for a varying or implausible fee. */
function readFee(...usd: readonly unknown[]): number | null {
  const fees = usd.map(each => Number(each ?? 0))
  const fee = Math.round(fees.reduce((sum, each) => sum + each, 0) * 1e6) / 1e6
  if (fees.some(each => each < 0)) return null
  return fee >= 0 && fee <= MAX_REQUEST_USD ? fee : null
}

function readCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_INTEGER ? value : null
}
