/**
 * What a call costs whose usage is not known: the most that it may have cost by then. Whoever left, whatever broke off, and with or without
 * budgets: nothing else in the proxy decides it.
 */
import { type Catalogue, costOfAnswer, findTier } from '../catalogue/catalogue.ts'
import { ClientGone, ProxyError } from '../errors/errors.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import { fillMissing, NO_USAGE, type TokenUsage } from '../formats/token-usage.ts'
import { estimatePromptTokens } from '../formats/tokens/count-tokens.ts'
import type { CatalogueModel } from '../postgres/list-models.ts'
import type { Provider } from '../providers/upstream.ts'
import { UpstreamFailure } from '../providers/upstream-failure.ts'
import { largestCost, sizeOf } from './largest-cost.ts'
import { largestTokens, type RequestSize, withLongestAnswer } from './largest-tokens.ts'
import { alternativesOf } from './parse-request.ts'
import { chargedSeconds } from './pass-through/sound-length.ts'
import type { CompletionQuery, PassedQuery } from './query.ts'
import { MOST_TOKENS, type Spent, type SpentUsage } from './spent-usage.ts'

export type Prices = Pick<Catalogue, 'find'> & Partial<Pick<Catalogue, 'recordExceededLimit'>>

/** A provider that was asked something, and the prices. */
export interface AskedCall {
  endpoint: string
  model: string
  body: JsonObject
  /** Worked out where it matters. */
  size: () => RequestSize
  provider: Provider
  catalogue: Prices
  /** Of the prompt, as the tokenizer counts it; null: not counted. */
  promptTokens?: number
}

/**
 * A number that cannot be read limits nothing. Audio is as long as it would be charged. Where the request leaves the tier to the provider's
 * settings, the standard one is charged.
 */
export function askedCall(query: CompletionQuery | PassedQuery, provider: Provider, catalogue: Prices): AskedCall {
  const { endpoint, model, body } = query
  const heard = query.kind === 'passed' && query.sound ? { seconds: chargedSeconds(query.sound) } : {}
  const size = () => {
    const read = { ...sizeOf(query, { isLenient: true }), ...heard }
    const { tier } = read.bounds
    return tier === null || tier === 'auto' ? withTier(read, STANDARD) : read
  }
  return { endpoint, model, body, size, provider, catalogue }
}

const STANDARD = 'default'

function withTier(size: RequestSize, tier: string): RequestSize {
  return { ...size, bounds: { ...size.bounds, tier } }
}

/** The same call with what is known of it now: its prompt as counted, with a margin, and the tier that its response names. */
export function withCounted(call: AskedCall, counted: { promptTokens: number; tier: string | null }): AskedCall {
  const size = call.size()
  const { isText, hasPrediction } = size.bounds
  const model = priced(call)
  const tier = model && counted.tier !== null && findTier(model, counted.tier) !== undefined ? counted.tier : null
  const tiered = tier === null ? size : withTier(size, tier)
  // A token has at least a byte. A prediction is bounded by its bytes, too.
  const bytes = isText && !hasPrediction ? Math.min(size.bytes, withMargin(counted.promptTokens)) : size.bytes
  return { ...call, size: () => ({ ...tiered, bytes }), promptTokens: counted.promptTokens }
}

/** The model in the catalogue; undefined where it is free, or not known. */
export function priced({ provider, size, catalogue }: AskedCall): CatalogueModel | undefined {
  return provider.pricedAs === null ? undefined : catalogue.find(provider.pricedAs, size().model)
}

/** Providers count with tokenizers of their own, and write on while a connection closes. */
const MARGIN_SHARE = 0.2
const MARGIN_TOKENS = 2

/** Tokens that were counted here in place of their provider: no fewer than it charges, and not many more. */
export function withMargin(tokens: number): number {
  return Math.ceil(tokens * (1 + MARGIN_SHARE)) + MARGIN_TOKENS
}

/** Whether a call that ended so may have cost something. `answered` is the status with which its provider began to answer; null: not at all. */
export function mayHaveCost(failure: unknown, answered: number | null): boolean {
  if (failure instanceof ProxyError && failure.isInPlaceOfResponse) return false
  if (answered !== null) return answered < 400
  // What it answered was a redirect or an error.
  if (failure instanceof UpstreamFailure) return failure.upstreamStatus === null && MAY_HAVE_ARRIVED.has(failure.kind)
  if (failure instanceof ClientGone) return failure.mayHaveCost
  // Others were raised before anything was sent; an upstream's own error is no Error.
  return failure instanceof ProxyError ? failure.status === BROKEN_STATUS : failure instanceof Error
}

/** Of a call that failed for a reason that nobody foresaw. */
const BROKEN_STATUS = 502
const MAY_HAVE_ARRIVED: ReadonlySet<string> = new Set(['cut', 'silent', 'broken'])

/** What was asked may have been answered in full: the client, the provider, or the way between them failed. */
export function presumeMost(call: AskedCall): SpentUsage {
  const { endpoint, body, provider, catalogue } = call
  const size = call.size()
  const { promptTokens = estimatePromptTokens(body, endpoint) } = call
  const asked = largestCost(size, provider, catalogue)
  const able = largestCost(withLongestAnswer(size, null), provider, catalogue)
  // Of a provider that is free.
  if (asked === null || able === null) return { ...NO_USAGE, promptTokens, reportedCostUsd: 0 }
  return presumed(promptTokens, {
    // No model writes more than it is able to, whatever was asked for.
    usd: lesser(asked.usd, able.usd),
    tokens: lesser(asked.tokens, able.tokens),
  })
}

/** The same where it is known that no more than these tokens were written. */
export function presumeUpTo(call: AskedCall, written: number): SpentUsage {
  const most = presumeMost(call)
  if (most.isPresumed !== true) return most
  const sent = withLongestAnswer(call.size(), written)
  const { usd, tokens } = largestCost(sent, call.provider, call.catalogue) ?? { usd: null, tokens: null }
  return presumed(most.promptTokens, {
    usd: most.isUnpriced ? null : lesser(most.reportedCostUsd, usd),
    tokens: lesser(most.promptTokens + most.completionTokens, tokens),
  })
}

/** Whether the prompt that is charged is the request's own text: no tool that the provider runs has it read once more. */
export function isPromptOfText({ size }: AskedCall): boolean {
  const { isText, isCompacted, hosted, fallbacks } = size().bounds
  return isText && !isCompacted && hosted.length + fallbacks.length === 0
}

/** The presumption where a part of the usage was reported: no less than that, with the longest output. */
export function presumeBeside(call: AskedCall, reported: TokenUsage, most: SpentUsage): SpentUsage {
  const { size, provider, catalogue } = call
  const { pricedAs } = provider
  const { output } = largestTokens(size(), pricedAs === null ? undefined : catalogue.find(pricedAs, size().model))
  const longest = { promptTokens: most.promptTokens, completionTokens: output ?? most.completionTokens }
  const filled = fillMissing({ ...reported, reportedCostUsd: null }, longest)
  const usd = costOfAnswer(catalogue, pricedAs, pricedName(call), filled)
  const { missing: _missing, totalTokens: _totalTokens, ...known } = reported
  return {
    ...known,
    promptTokens: Math.max(known.promptTokens, most.promptTokens),
    completionTokens: Math.max(known.completionTokens, most.completionTokens),
    reportedCostUsd: Math.min(MOST_USD, Math.max(most.reportedCostUsd ?? 0, reported.reportedCostUsd ?? 0, usd ?? 0)),
    isUnpriced: most.isUnpriced ?? false,
    isPresumed: true,
  }
}

/** By which name a response is priced. */
export function pricedName({ body, model }: AskedCall): { model: string; hasOthers: boolean } {
  return { model, hasOthers: alternativesOf(body).length > 0 }
}

/** Tokens and dollars that a call may have taken; null is not known. */
export function presumed(
  promptTokens: number,
  { usd, tokens }: { usd: number | null; tokens: number | null },
): SpentUsage {
  const all = Math.min(MOST_TOKENS, Math.max(promptTokens, tokens ?? promptTokens))
  return {
    ...NO_USAGE,
    promptTokens,
    completionTokens: all - promptTokens,
    reportedCostUsd: Math.min(MOST_USD, usd ?? 0),
    isUnpriced: usd === null,
    isPresumed: true,
  }
}

/** What a record holds. */
const MOST_USD = 100_000

/** Null is not known. */
function lesser(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other)
}

interface OpenCall {
  model: string
  presume: () => SpentUsage
  /** The status with which its provider began to answer; null: not yet. */
  answered: number | null
}

/** What providers were asked for one request: what each call may have cost, until its usage is known. */
export class AskedCalls {
  /** Of calls that failed: what they reported, else what they may have used. */
  readonly presumed: Spent[] = []
  #open: OpenCall | null = null

  /** Whether the end of the open call says what it cost, where that would else be presumed. Without budgets, one without a price costs nothing. */
  isWorthReading(hasBudgets: boolean): boolean {
    const presumption = this.#open?.presume()
    return presumption?.isPresumed === true && (hasBudgets || presumption.isUnpriced !== true)
  }

  begin(model: string, presume: () => SpentUsage): void {
    this.#open = { model, presume, answered: null }
  }

  noteAnswered(status: number): void {
    if (this.#open) this.#open.answered = status
  }

  /** Its usage is known. */
  end(): void {
    this.#open = null
  }

  /** It failed before its usage was known. */
  fail(failure: unknown): void {
    const call = this.#open
    this.#open = null
    if (!call) return
    // One that is silent may go on after this process has hung up.
    const reported = failure instanceof UpstreamFailure && failure.kind !== 'silent' ? failure.usage : null
    if (reported) this.presumed.push({ model: call.model, usage: reported })
    else if (mayHaveCost(failure, call.answered)) this.presumed.push({ model: call.model, usage: call.presume() })
  }
}
