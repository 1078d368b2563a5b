/** The most that a request may cost, from its size and the catalogue: what a budget must have left before a provider is asked. */
import type { CostBound } from '../../admission/budgets.ts'
import { AGGREGATOR, type Catalogue, findTier, toolsUsd } from '../../catalogue/catalogue.ts'
import { type RequestBounds, readBounds } from '../../formats/bounds/read-bounds.ts'
import type { HostedTool, TopContent } from '../../formats/bounds/read-content.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import { USUAL_PICTURES } from '../../formats/responses/responses-format.ts'
import type { ToolCalls } from '../../formats/token-usage.ts'
import type { CatalogueModel, PricedUnit } from '../../postgres/list-models.ts'
import type { MaxPrice, Provider } from '../../providers/upstream.ts'
import { isPaidBySecond } from '../pass-through/passed-usage.ts'
import { MOST_SECONDS } from '../pass-through/sound-length.ts'
import type { CompletionQuery, PassedQuery } from '../query.ts'
import { maxTokens, mostCalls, picturesTokens, type RequestSize, type TokenBounds } from './max-tokens.ts'

/** Reads the request as it is sent. Throws a 400 for a number that is none, unless that is to count as none given. */
export function sizeOf(query: CompletionQuery | PassedQuery, { isLenient = false } = {}): RequestSize {
  const { endpoint, model, body } = query
  if (query.kind === 'passed') {
    const { passed, sound } = query
    const bounds = readBounds(endpoint, body, { isForm: passed.form !== null, isLenient })
    const seconds = sound?.mostSeconds ?? MOST_SECONDS
    return { endpoint, model, bounds, bytes: passed.bytes.length, seconds, isPassed: true }
  }
  const bytes = query.bytes?.length ?? Buffer.byteLength(query.text)
  return { ...sizeOfBody(endpoint, body, bytes, { top: query.top, isLenient }), model }
}

/** `top`: what is in the body, where a worker has looked. */
export function sizeOfBody(
  endpoint: string,
  body: JsonObject,
  bytes: number,
  { top, isLenient = false }: { top?: TopContent | undefined; isLenient?: boolean } = {},
): RequestSize {
  const model = typeof body.model === 'string' ? body.model : ''
  return { endpoint, model, bytes, bounds: readBounds(endpoint, body, { top, isLenient }), seconds: 0 }
}

type Find = (model: string) => CatalogueModel | undefined

/** Null when the provider is free. What has no price that is known is named in `unknown`. */
export function maxCost(size: RequestSize, provider: Provider, catalogue: Pick<Catalogue, 'find'>): CostBound | null {
  const { pricedAs } = provider
  if (pricedAs === null) return null
  const find: Find = model => catalogue.find(pricedAs, model)
  const { alternatives, fallbacks, aggregated } = size.bounds
  const max = maxPriceOf(() => size, provider, catalogue)
  const extra = aggregated.find(field => field !== 'provider' || max === undefined)
  if (pricedAs === AGGREGATOR && extra !== undefined) return { usd: null, tokens: null, unknown: extra }
  // Of several models that may answer, the dearest counts; of those that are asked one after the other, all.
  const either = [size.model, ...alternatives].map(model => maxCostOf(size, model, find, max))
  const also = fallbacks.map(model => maxCostOf(size, model, find, max))
  return [highestCostBound(either), ...also].reduce(addCostBounds)
}

/**
 * The prices up to which an aggregator may choose hosts for the request: those by which its cost is bounded. Undefined where the aggregator
 * does not limit prices, or a price is not known.
 */
export function maxPriceOf(
  sizeOf: () => RequestSize,
  { pricedAs, limitsPrices = false }: Provider,
  catalogue: Pick<Catalogue, 'find'>,
): MaxPrice | undefined {
  if (pricedAs === null || !limitsPrices) return undefined
  const size = sizeOf()
  if (size.isPassed) return undefined
  const models = [size.model, ...size.bounds.alternatives, ...size.bounds.fallbacks].flatMap(name => {
    const model = catalogue.find(pricedAs, name)
    return model ? [{ rows: pricesThatMayApply(model, size.bounds, maxTokens(size, model).prompt), model }] : []
  })
  if (models.length === 0) return undefined
  return {
    prompt: Math.max(...models.flatMap(({ rows }) => rows.map(row => row.inputUsdPerMillion))),
    completion: Math.max(...models.flatMap(({ rows }) => rows.map(row => row.outputUsdPerMillion))),
    request: Math.max(...models.map(({ model }) => model.unitPrices.request ?? 0)),
  }
}

function highestCostBound(each: readonly CostBound[]): CostBound {
  const most = (amounts: readonly (number | null)[]) =>
    amounts.includes(null) ? null : Math.max(...amounts.map(amount => amount ?? 0))
  return {
    usd: most(each.map(({ usd }) => usd)),
    tokens: most(each.map(({ tokens }) => tokens)),
    unknown: each.find(({ unknown }) => unknown !== undefined)?.unknown,
  }
}

export function addCostBounds(one: CostBound, other: CostBound): CostBound {
  const sum = (a: number | null, b: number | null) => (a === null || b === null ? null : a + b)
  return {
    usd: sum(one.usd, other.usd),
    tokens: sum(one.tokens, other.tokens),
    unknown: one.unknown ?? other.unknown,
  }
}

function maxCostOf(size: RequestSize, named: string, find: Find, max: MaxPrice | undefined): CostBound {
  const { bounds } = size
  const model = find(named)
  const { prompt, output } = maxTokens(size, model)
  const tokens = prompt === null || output === null ? null : prompt + output
  if (bounds.unpriced !== null) return { usd: null, tokens: null, unknown: bounds.unpriced }
  if (!model) return { usd: null, tokens, unknown: tellName(named) }
  if (prompt === null || output === null) return { usd: null, tokens }
  const unknown = unpricedPart(size, model)
  if (unknown !== null) return { usd: null, tokens, unknown: `${unknown} with ${tellName(named)}` }
  const own: CostBound = { usd: dollars(priceOf(size, model, { prompt, output }, max)), tokens }
  return bounds.hosted.map(tool => maxCostOfTool(tool, bounds, find)).reduce(addCostBounds, own)
}

/** In millionths of a dollar. `max`: the prices that another host may ask for the model. */
function priceOf(
  size: RequestSize,
  model: CatalogueModel,
  { prompt, output }: { prompt: number; output: number },
  max?: MaxPrice,
) {
  const { kind, inputUsdPerMillion, outputUsdPerMillion, unitPrices } = model
  if (kind === 'speech' && outputUsdPerMillion === 0) return size.bytes * inputUsdPerMillion
  if (isPaidBySecond(model)) return size.seconds * inputUsdPerMillion
  const prices = pricesThatMayApply(model, size.bounds, prompt)
  const input = Math.max(
    ...prices.flatMap(row => [
      row.inputUsdPerMillion,
      row.cacheWriteUsdPerMillion ?? 0,
      row.cacheWriteHourUsdPerMillion ?? 0,
    ]),
  )
  const { audio_input = 0, image_input = 0, audio_output = 0, request = 0 } = unitPrices
  const read = Math.max(input, audio_input, image_input, max?.prompt ?? 0)
  const written = Math.max(audio_output, max?.completion ?? 0, ...prices.map(row => row.outputUsdPerMillion))
  const apart = Math.max(request, max?.request ?? 0) + toolsUsd(unitPrices, mostPricedCalls(size.bounds))
  return prompt * read + output * written + apart * 1_000_000
}

function mostPricedCalls({ hosted, mostToolCalls }: RequestBounds): ToolCalls {
  const priced = (kind: string) => hosted.filter(({ price }) => price === kind)
  const callsOf = (kind: string) => mostCalls(priced(kind), mostToolCalls)
  const container = priced('container').reduce((sum, { gigabytes }) => sum + gigabytes, 0)
  return { search: callsOf('search'), file_search: callsOf('file_search'), container }
}

/** A tool that asks a model of its own, which reads the whole conversation. */
function maxCostOfTool(tool: HostedTool, bounds: RequestBounds, find: Find): CostBound {
  if (tool.price !== 'advice' && tool.price !== 'pictures') return { usd: 0, tokens: 0 }
  const name = tool.model ?? (tool.price === 'pictures' ? USUAL_PICTURES : null)
  const model = name === null ? undefined : find(name)
  if (!model) return { usd: null, tokens: null, unknown: tellName(name ?? tool.type) }
  const { prompt, output }: TokenBounds =
    tool.price === 'pictures'
      ? picturesTokens(bounds, MOST_PROMPT_BYTES)
      : { prompt: model.contextTokens, output: tool.mostTokens ?? model.maxOutputTokens ?? model.contextTokens }
  if (prompt === null || output === null) return { usd: null, tokens: null, unknown: tellName(name ?? tool.type) }
  const calls = mostCalls([tool], bounds.mostToolCalls)
  const size = { endpoint: '', model: model.model, bytes: 0, bounds: { ...bounds, hosted: [] }, seconds: 0 }
  return { usd: dollars(priceOf(size, model, { prompt, output }) * calls), tokens: (prompt + output) * calls }
}

/** Of a picture: 32,000 characters. */
const MOST_PROMPT_BYTES = 128_000

/** The part of a request that costs apart, without a price in the catalogue; null for none. */
function unpricedPart({ endpoint, bounds }: RequestSize, model: CatalogueModel): string | null {
  const has = (unit: PricedUnit) => model.unitPrices[unit] !== undefined
  const tool = bounds.hosted.find(({ price }) => price === null || (isPricedUnit(price) && !has(price)))
  if (tool) return tool.type
  if (model.kind === 'image' && endpoint !== 'images/generations' && !has('image_input')) return 'pictures as input'
  if (bounds.hasSoundInput && !has('audio_input')) return 'sound as input'
  if (bounds.hasSoundOutput && !has('audio_output')) return 'sound as output'
  const { tier, geo } = bounds
  if (tier !== null && findTier(model, tier) === undefined) return `the tier ${tier}`
  return geo !== null && geo !== 'global' && findTier(model, geo) === undefined ? `the region ${geo}` : null
}

function isPricedUnit(price: string): price is 'search' | 'file_search' | 'container' {
  return price === 'search' || price === 'file_search' || price === 'container'
}

/** The answer's tier and region decide. Where the request names none, any may be the project's own at its provider. */
function pricesThatMayApply(model: CatalogueModel, { tier, geo, hasUnknown }: RequestBounds, prompt: number | null) {
  const asked = tier === null || tier === 'auto' ? null : findTier(model, tier)
  const mayBe = (row: string) => {
    if (geo === 'global' && /^(?:.*-)?us$/.test(row)) return false
    // No project has Anthropic's fast mode of itself.
    if (row.startsWith('fast')) return asked === 'fast'
    return row !== 'priority' || asked === null || asked === 'priority' || hasUnknown
  }
  const longest = prompt ?? Number.POSITIVE_INFINITY
  return [model, ...model.conditionalPrices.filter(row => longest > row.abovePromptTokens && mayBe(row.tier))]
}

/** A name that a client chose, as far as it may be repeated. */
function tellName(name: string): string {
  return /^[\w./:@-]{1,128}$/.test(name) ? name : 'a model that it names'
}

/** Rounded up to what the database keeps. */
function dollars(timesMillion: number): number {
  return Math.ceil(timesMillion * 1_000) / 1_000_000_000
}
