/** What a response used: as its provider reported it, else as it is counted or presumed. */
import { costOfAnswer } from '../catalogue/catalogue.ts'
import { checkReportedCost } from '../catalogue/reported-cost.ts'
import { readLimit } from '../formats/bounds/read-bounds.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import {
  fillMissing,
  type MissingCount,
  markZeros,
  NO_USAGE,
  type TokenUsage,
  USUAL_TIERS,
} from '../formats/token-usage.ts'
import { countAside } from '../formats/tokens/count-aside.ts'
import { estimatePromptTokens } from '../formats/tokens/count-tokens.ts'
import { estimateTextTokens } from '../formats/tokens/estimate-text.ts'
import type { Counted } from '../formats/tokens/jobs.ts'
import type { ResponseReading } from '../providers/read-response.ts'
import type { Endpoint } from '../providers/upstream.ts'
import { exceedsLimit } from './largest-tokens.ts'
import {
  type AskedCall,
  isPromptOfText,
  presumeBeside,
  presumeMost,
  presumeUpTo,
  priced,
  pricedName,
  withCounted,
  withMargin,
} from './presumed-usage.ts'
import type { SpentUsage } from './spent-usage.ts'
import { isSentAsWritten } from './unseen-output.ts'

/** What a provider reported of a call that has ended, and what came of it. */
export interface CallReport extends Pick<ResponseReading, 'usage' | 'hasBegun' | 'text' | 'model'> {
  /** Whether it may have produced a response that was not seen: a connection broke, or it ended in order, or goes on elsewhere. */
  mayHaveBegun?: boolean
  /** For a stream that ended early: the response as far as it came. */
  cut?: JsonObject | undefined
  /** Whether the provider ended it early: by an error, or by breaking it off. */
  isProviderFailure?: boolean
  /** The service tier that the response names; null where it names none. */
  tier?: string | null
  /** Of the text, beyond what it holds. */
  lostChars?: number
}

/**
 * The usage that the provider reported. What it did not report of a response, the tokenizer counts where all that is charged was sent, where
 * the provider failed, or where it has no price; else it is presumed. Where no response began, it has used what it reported, or nothing.
 */
export async function usageOf(call: AskedCall, report: CallReport, owner: number): Promise<SpentUsage> {
  const { usage, hasBegun, mayHaveBegun = false, cut, model, text, isProviderFailure = false } = report
  const answeredAs = typeof model === 'string' ? { answeredAs: model } : {}
  if (usage) checkLimit(call, usage)
  if (!hasBegun && !mayHaveBegun) return usage ? asReported(call, usage, model) : NO_USAGE
  const told = usage && markZeros(believed(call, usage, model, true), { hasOutput: hasBegun })
  // What was written after that was not counted yet.
  const reported = told && cut ? { ...told, missing: [...(told.missing ?? []), 'completion' as const] } : told
  if (reported && !reported.missing) return { ...reported, ...answeredAs }
  const counted = await count(call, text, owner)
  const known = withCounted(call, { ...counted, tier: reported?.tier ?? report.tier ?? null })
  const most = presumeFor(known, reported, cut)
  const isPriced = most.isPresumed === true && most.isUnpriced !== true
  const isCostKnown = reported !== null && reported.reportedCostUsd !== null && !cut
  const arrived = fillMissing(reported ?? unreported(known), estimateOf(report, counted))
  const isEstimated = isPriced && (cut !== undefined || isProviderFailure)
  const isAllSeen = isProviderFailure || (cut ? isSentAsWritten(call, cut) : isCountable(call, reported))
  const usd = isEstimated ? costOf(known, arrived) : null
  if (isPriced && !isCostKnown && (!isAllSeen || (isEstimated && usd === null)))
    return { ...(reported ? presumeBeside(known, reported, most) : most), ...answeredAs }
  const isUnpriced = most.isUnpriced === true && !isCostKnown
  if (!isEstimated) return { ...arrived, isUnpriced, ...answeredAs }
  return { ...arrived, reportedCostUsd: usd, isUnpriced, isPresumed: true, ...answeredAs }
}

/** Records a response that was longer than its request allowed. */
function checkLimit(call: AskedCall, { completionTokens }: TokenUsage): void {
  const limit = readLimit(call.endpoint, call.body)
  if (limit === null || completionTokens <= limit) return
  const model = priced(call)
  if (model && exceedsLimit(call.size(), completionTokens)) call.catalogue.recordExceededLimit?.(model)
}

/** No less than what the provider reported by then. */
function costOf(call: AskedCall, usage: TokenUsage): number | null {
  const { provider, catalogue } = call
  const usd = costOfAnswer(catalogue, provider.pricedAs, pricedName(call), { ...usage, reportedCostUsd: null })
  return usd === null ? null : Math.max(usd, usage.reportedCostUsd ?? 0)
}

/** Nothing but the tier: as the response names it, else as the request does. */
function unreported(call: AskedCall): TokenUsage {
  const { tier } = call.size().bounds
  return { ...NO_USAGE, missing: EITHER, ...(tier !== null && !USUAL_TIERS.includes(tier) && { tier }) }
}

/** What was given up of the text is taken to have as many tokens as what was kept of it. */
function estimateOf({ text, cut, isProviderFailure, lostChars = 0 }: CallReport, counted: Counted) {
  const share = text === '' ? 1 : 1 + lostChars / text.length
  const estimate = { promptTokens: counted.promptTokens, completionTokens: Math.ceil(counted.textTokens * share) }
  if (!cut && !isProviderFailure) return estimate
  return { promptTokens: withMargin(estimate.promptTokens), completionTokens: withMargin(estimate.completionTokens) }
}

/** What a call used of which no response began: as far as its provider reported it. */
export function asReported(call: AskedCall, usage: TokenUsage, model?: unknown): TokenUsage {
  return fillMissing(believed(call, usage, model, false), NO_USAGE)
}

const EITHER: readonly MissingCount[] = ['prompt', 'completion']

function believed(call: AskedCall, usage: TokenUsage, named: unknown, hasBegun: boolean): TokenUsage {
  const { provider, catalogue } = call
  const { model, hasOthers } = pricedName(call)
  const find = (name: string) => (provider.pricedAs === null ? undefined : catalogue.find(provider.pricedAs, name))
  const listed = hasOthers && typeof named === 'string' ? find(named) : find(model)
  return checkReportedCost(usage, provider, listed, { hasBegun })
}

function presumeFor(call: AskedCall, reported: TokenUsage | null, cut: JsonObject | undefined): SpentUsage {
  if (cut) return presumeMost(call)
  const { missing = EITHER, completionTokens = 0, totalTokens } = reported ?? {}
  const written = missing.includes('completion') ? totalTokens : completionTokens
  return written ? presumeUpTo(call, written) : presumeMost(call)
}

/** Whether the tokenizer counts what is missing: a prompt of text, and output that was sent as it was written. */
function isCountable(call: AskedCall, reported: TokenUsage | null): boolean {
  return isSentAsWritten(call) || (reported?.missing?.includes('completion') === false && isPromptOfText(call))
}

function count({ endpoint, body: request }: AskedCall, text: string, owner: number): Promise<Counted> {
  const counting = countAside({ endpoint: endpoint as Endpoint, request, text }, owner)
  // A worker that died of its job must not keep the request open.
  return counting.catch(() => ({
    promptTokens: estimatePromptTokens(request, endpoint),
    textTokens: estimateTextTokens(text),
  }))
}
