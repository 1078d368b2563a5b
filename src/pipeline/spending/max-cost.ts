/** Computes the upper bound of a request's cost from its size and the catalogue. Budgets reserve it before a provider is called. */
import type { CostBound } from '../../admission/budgets.ts'
import { AGGREGATOR, type Catalogue, computeToolCost, resolvePricingTier } from '../../catalogue/catalogue.ts'
import { type CostFactorOptions, type RequestCostFactors, readCostFactors } from '../../formats/cost-factors.ts'
import type { HostedTool } from '../../formats/hosted-tools.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import { DEFAULT_IMAGE_MODEL } from '../../formats/responses/responses-format.ts'
import type { ToolCallCounts } from '../../formats/token-usage.ts'
import type { CatalogueModel, PricedUnit } from '../../postgres/list-models.ts'
import type { MaxPrice, Provider } from '../../providers/upstream.ts'
import { MAX_AUDIO_SECONDS } from '../request/audio-length.ts'
import type { CompletionQuery, PassThroughQuery } from '../request/query.ts'
import { maxImageTokens, maxTokens, maxToolCalls, type RequestSize, type TokenBounds } from './max-tokens.ts'
import { isModelBilledBySecond } from './pass-through-usage.ts'

/** Reads the size of the request as it is sent. Throws a 400 for an invalid number; `isLenient` ignores such numbers. */
export function requestSizeOf(query: CompletionQuery | PassThroughQuery, { isLenient = false } = {}): RequestSize {
  const { endpoint, model, body } = query
  if (query.kind === 'pass_through') {
    const { passThroughBody, audio } = query
    const bounds = readCostFactors(endpoint, body, {
      isForm: passThroughBody.form !== null,
      isLenient,
      facts: query.facts,
    })
    const seconds = audio?.maxSeconds ?? MAX_AUDIO_SECONDS
    return { endpoint, model, bounds, bytes: passThroughBody.bytes.length, seconds, isPassThrough: true }
  }
  const bytes = query.bytes?.length ?? Buffer.byteLength(query.text)
  return { ...requestSizeOfBody(endpoint, body, bytes, { facts: query.facts, isLenient }), model }
}

export function requestSizeOfBody(
  endpoint: string,
  body: JsonObject,
  bytes: number,
  options: Pick<CostFactorOptions, 'facts' | 'isLenient'> = {},
): RequestSize {
  const model = typeof body.model === 'string' ? body.model : ''
  return { endpoint, model, bytes, bounds: readCostFactors(endpoint, body, options), seconds: 0 }
}

type FindModel = (model: string) => CatalogueModel | undefined

/** Returns null if the provider is free. If a price is unknown, `usd` is null and `unknown` names the part without a price. */
export function maxCost(size: RequestSize, provider: Provider, catalogue: Pick<Catalogue, 'find'>): CostBound | null {
  const { pricedAs, isFreeWithoutPrice = false } = provider
  if (pricedAs === null) return null
  const find: FindModel = model => catalogue.find(pricedAs, model)
  const { alternatives, fallbacks, aggregatorCharges } = size.bounds
  const max = maxPriceOf(() => size, provider, catalogue)
  const extra = aggregatorCharges.find(field => field !== 'provider' || max === undefined)
  if (pricedAs === AGGREGATOR && extra !== undefined) return { usd: null, tokens: null, unknown: extra }
  // Of alternative models, the most expensive counts. Fallback models are called one after the other, so all count.
  const boundOf = (model: string) => maxCostOf(size, model, { find, max, isFreeWithoutPrice })
  const alternativeBounds = [size.model, ...alternatives].map(boundOf)
  const fallbackBounds = fallbacks.map(boundOf)
  return [highestCostBound(alternativeBounds), ...fallbackBounds].reduce(addCostBounds)
}

/**
 * Returns the highest prices at which an aggregator may choose hosts for the request: those of the cost bound. Undefined if the aggregator
 * cannot limit prices, or a price is unknown.
 */
export function maxPriceOf(
  sizeOf: () => RequestSize,
  { pricedAs, enforcesMaxPrice = false }: Provider,
  catalogue: Pick<Catalogue, 'find'>,
): MaxPrice | undefined {
  if (!enforcesMaxPrice) return undefined
  const size = sizeOf()
  if (size.isPassThrough) return undefined
  const models = [size.model, ...size.bounds.alternatives, ...size.bounds.fallbacks].flatMap(name => {
    const model = catalogue.find(pricedAs, name)
    return model ? [{ rows: listPossiblePrices(model, size.bounds, maxTokens(size, model).prompt), model }] : []
  })
  if (models.length === 0) return undefined
  return {
    prompt: Math.max(...models.flatMap(({ rows }) => rows.map(row => row.inputUsdPerMillion))),
    completion: Math.max(...models.flatMap(({ rows }) => rows.map(row => row.outputUsdPerMillion))),
    request: Math.max(...models.map(({ model }) => model.unitPrices.request ?? 0)),
  }
}

function highestCostBound(each: readonly CostBound[]): CostBound {
  const max = (amounts: readonly (number | null)[]) =>
    amounts.includes(null) ? null : Math.max(...amounts.map(amount => amount ?? 0))
  return {
    usd: max(each.map(({ usd }) => usd)),
    tokens: max(each.map(({ tokens }) => tokens)),
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

interface ModelPrices {
  find: FindModel
  max: MaxPrice | undefined
  isFreeWithoutPrice: boolean
}

function maxCostOf(size: RequestSize, name: string, { find, max, isFreeWithoutPrice }: ModelPrices): CostBound {
  const { bounds } = size
  const model = find(name)
  const { prompt, output } = maxTokens(size, model)
  const tokens = prompt === null || output === null ? null : prompt + output
  if (bounds.unpricedField !== null) return { usd: null, tokens: null, unknown: bounds.unpricedField }
  if (!model) return isFreeWithoutPrice ? { usd: 0, tokens } : { usd: null, tokens, unknown: quoteModelName(name) }
  if (prompt === null || output === null) return { usd: null, tokens }
  const unknown = unpricedPart(size, model)
  if (unknown !== null) return { usd: null, tokens, unknown: `${unknown} with ${quoteModelName(name)}` }
  const ownBound: CostBound = { usd: toUsd(priceOf(size, model, { prompt, output }, max)), tokens }
  return bounds.hostedTools.map(tool => maxCostOfTool(tool, bounds, find)).reduce(addCostBounds, ownBound)
}

/** Returns the price in millionths of a US dollar. `max` holds the highest prices at which another host may serve the model. */
function priceOf(
  size: RequestSize,
  model: CatalogueModel,
  { prompt, output }: { prompt: number; output: number },
  max?: MaxPrice,
) {
  const { kind, inputUsdPerMillion, outputUsdPerMillion, unitPrices } = model
  if (kind === 'speech' && outputUsdPerMillion === 0) return size.bytes * inputUsdPerMillion
  if (isModelBilledBySecond(model)) return size.seconds * inputUsdPerMillion
  const prices = listPossiblePrices(model, size.bounds, prompt)
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
  const perCall = Math.max(request, max?.request ?? 0) + computeToolCost(unitPrices, countMaxToolCalls(size.bounds))
  return prompt * read + output * written + perCall * 1_000_000
}

function countMaxToolCalls({ hostedTools, maxToolCalls: maxCallsOfRequest }: RequestCostFactors): ToolCallCounts {
  const priced = (kind: string) => hostedTools.filter(({ pricing }) => pricing === kind)
  const callsOf = (kind: string) => maxToolCalls(priced(kind), maxCallsOfRequest)
  const container = priced('container').reduce((sum, { gigabytes }) => sum + gigabytes, 0)
  return { search: callsOf('search'), file_search: callsOf('file_search'), container }
}

/** Returns the bound of a tool that calls a model, which reads the whole conversation. Other tools cost nothing here. */
function maxCostOfTool(tool: HostedTool, bounds: RequestCostFactors, find: FindModel): CostBound {
  if (tool.pricing !== 'advice' && tool.pricing !== 'pictures') return { usd: 0, tokens: 0 }
  const name = tool.model ?? (tool.pricing === 'pictures' ? DEFAULT_IMAGE_MODEL : null)
  const model = name === null ? undefined : find(name)
  if (!model) return { usd: null, tokens: null, unknown: quoteModelName(name ?? tool.type) }
  const { prompt, output }: TokenBounds =
    tool.pricing === 'pictures'
      ? maxImageTokens(bounds, MAX_IMAGE_PROMPT_BYTES)
      : { prompt: model.contextTokens, output: tool.maxTokens ?? model.maxOutputTokens ?? model.contextTokens }
  if (prompt === null || output === null) return { usd: null, tokens: null, unknown: quoteModelName(name ?? tool.type) }
  const calls = maxToolCalls([tool], bounds.maxToolCalls)
  const size = { endpoint: '', model: model.model, bytes: 0, bounds: { ...bounds, hostedTools: [] }, seconds: 0 }
  return { usd: toUsd(priceOf(size, model, { prompt, output }) * calls), tokens: (prompt + output) * calls }
}

/** The longest prompt for an image: 32,000 characters of up to four bytes. */
const MAX_IMAGE_PROMPT_BYTES = 128_000

/** Returns the part of the request that is priced separately and has no price in the catalogue; null if there is none. */
function unpricedPart({ endpoint, bounds }: RequestSize, model: CatalogueModel): string | null {
  const has = (unit: PricedUnit) => model.unitPrices[unit] !== undefined
  const tool = bounds.hostedTools.find(({ pricing }) => pricing === null || (isPricedUnit(pricing) && !has(pricing)))
  if (tool) return tool.type
  if (model.kind === 'image' && endpoint !== 'images/generations' && !has('image_input')) return 'image input'
  if (bounds.hasAudioInput && !has('audio_input')) return 'audio input'
  if (bounds.hasAudioOutput && !has('audio_output')) return 'audio output'
  const { tier, geo } = bounds
  if (tier !== null && resolvePricingTier(model, tier) === undefined) return `the tier ${tier}`
  return geo !== null && geo !== 'global' && resolvePricingTier(model, geo) === undefined ? `the region ${geo}` : null
}

function isPricedUnit(price: string): price is 'search' | 'file_search' | 'container' {
  return price === 'search' || price === 'file_search' || price === 'container'
}

/**
 * Returns the price rows that may apply. The response's tier and region decide; if the request names none, the provider's settings for
 * the project may select any.
 */
function listPossiblePrices(
  model: CatalogueModel,
  { tier, geo, hasUnknownContent }: RequestCostFactors,
  prompt: number | null,
) {
  const requestedTier = tier === null || tier === 'auto' ? null : resolvePricingTier(model, tier)
  const canApply = (row: string) => {
    if (geo === 'global' && /^(?:.*-)?us$/.test(row)) return false
    // Anthropic's fast mode applies only to requests that name it.
    if (row.startsWith('fast')) return requestedTier === 'fast'
    return row !== 'priority' || requestedTier === null || requestedTier === 'priority' || hasUnknownContent
  }
  const longest = prompt ?? Number.POSITIVE_INFINITY
  return [model, ...model.conditionalPrices.filter(row => longest > row.abovePromptTokens && canApply(row.tier))]
}

/** Returns the model name that a client sent, if it is safe to quote. */
function quoteModelName(name: string): string {
  return /^[\w./:@-]{1,128}$/.test(name) ? name : 'a model that the request names'
}

/** Converts millionths of a dollar to dollars, rounded up to the database's precision. */
function toUsd(timesMillion: number): number {
  return Math.ceil(timesMillion * 1_000) / 1_000_000_000
}
