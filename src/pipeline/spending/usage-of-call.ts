/** What a response used: as its provider reported it, else as it is counted or estimated. */
import { checkReportedCost } from '../../catalogue/reported-cost.ts'
import { readLimit } from '../../formats/bounds/read-bounds.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import { fillMissing, markZeros, NO_USAGE, type TokenUsage } from '../../formats/token-usage.ts'
import { countAside } from '../../formats/tokens/count-aside.ts'
import { estimatePromptTokens } from '../../formats/tokens/count-tokens.ts'
import { estimateTextTokens } from '../../formats/tokens/estimate-text.ts'
import type { Counted } from '../../formats/tokens/jobs.ts'
import type { ResponseReading } from '../../providers/read-response.ts'
import type { Endpoint } from '../../providers/upstream.ts'
import {
  EITHER,
  estimateUsage,
  isPromptOfText,
  type PricedCall,
  priced,
  pricedName,
  unreported,
  withCounted,
  withMargin,
} from './estimate-usage.ts'
import { exceedsLimit } from './max-tokens.ts'
import type { EstimateReason, SpentUsage } from './spent-usage.ts'
import { isSentAsWritten } from './unseen-output.ts'

/** What a provider reported of a call that has ended, and what came of it. */
export interface CallReport extends Pick<ResponseReading, 'usage' | 'hasBegun' | 'text' | 'model'> {
  /** Whether it may have produced a response that was not seen: a connection broke, or it ended in order, or goes on elsewhere. */
  mayHaveBegun?: boolean
  /** For a stream that ended early: the response as far as it came. */
  cut?: JsonObject | undefined
  /** Why it ended early; by default it did not. */
  reason?: EstimateReason
  /** The service tier that the response names; null where it names none. */
  tier?: string | null
  /** Of the text, beyond what it holds. */
  lostChars?: number
}

/**
 * The usage that the provider reported. What it did not report of a response, the tokenizer counts where all that is charged was sent, or
 * where it has no price; else it is estimated. Where no response began, it has used what it reported, or nothing.
 */
export async function usageOf(call: PricedCall, report: CallReport, owner: number): Promise<SpentUsage> {
  const { usage, hasBegun, mayHaveBegun = false, cut, model, text, reason = 'not_reported' } = report
  const answeredAs = typeof model === 'string' ? { answeredAs: model } : {}
  if (usage) checkLimit(call, usage)
  if (!hasBegun && !mayHaveBegun) return usage ? asReported(call, usage, model) : NO_USAGE
  const told = usage && markZeros(believed(call, usage, model, true), { hasOutput: hasBegun })
  // What was written after that was not counted yet.
  const reported = told && cut ? { ...told, missing: [...(told.missing ?? []), 'completion' as const] } : told
  if (reported && !reported.missing) return { ...reported, ...answeredAs }
  const counted = await count(call, text, owner)
  const known = withCounted(call, { ...counted, tier: reported?.tier ?? report.tier ?? null })
  const isWhole = cut === undefined && reason !== 'provider_failed'
  const missing = reported?.missing ?? EITHER
  const arrived = { ...fillMissing(reported ?? unreported(known), estimateOf(report, counted, isWhole)), missing }
  const isAllKnown = cut ? isSentAsWritten(call, cut) : isCountable(call, reported)
  const charged = estimateUsage(known, { reason, isAllKnown, written: writtenBy(reported, cut) }, arrived)
  const isCostKnown = reported !== null && reported.reportedCostUsd !== null && !cut
  const isCounted = isWhole && (isAllKnown || charged.isUnpriced === true)
  if (charged.estimate && !isCostKnown && !isCounted) return { ...charged, ...answeredAs }
  const { estimate: _estimate, ...used } = charged
  const reportedCostUsd = reported?.reportedCostUsd ?? null
  return { ...used, reportedCostUsd, isUnpriced: charged.isUnpriced === true && !isCostKnown, ...answeredAs }
}

/** Records a response that was longer than its request allowed. */
function checkLimit(call: PricedCall, { completionTokens }: TokenUsage): void {
  const limit = readLimit(call.endpoint, call.body)
  if (limit === null || completionTokens <= limit) return
  const model = priced(call)
  if (model && exceedsLimit(call.size(), completionTokens)) call.catalogue.recordExceededLimit?.(model)
}

/** Tokens of the output, as far as the provider reported them. */
function writtenBy(reported: TokenUsage | null, cut: JsonObject | undefined): number | null {
  if (cut || !reported) return null
  const { missing = [], completionTokens, totalTokens = 0 } = reported
  return (missing.includes('completion') ? totalTokens : completionTokens) || null
}

/** What was given up of the text is taken to have as many tokens as what was kept of it. */
function estimateOf({ text, lostChars = 0 }: CallReport, counted: Counted, isWhole: boolean) {
  const share = text === '' ? 1 : 1 + lostChars / text.length
  const estimate = { promptTokens: counted.promptTokens, completionTokens: Math.ceil(counted.textTokens * share) }
  if (isWhole) return estimate
  return { promptTokens: withMargin(estimate.promptTokens), completionTokens: withMargin(estimate.completionTokens) }
}

/** What a call used of which no response began: as far as its provider reported it. */
export function asReported(call: PricedCall, usage: TokenUsage, model?: unknown): TokenUsage {
  return fillMissing(believed(call, usage, model, false), NO_USAGE)
}

function believed(call: PricedCall, usage: TokenUsage, named: unknown, hasBegun: boolean): TokenUsage {
  const { provider, catalogue } = call
  const { model, hasOthers } = pricedName(call)
  const find = (name: string) => (provider.pricedAs === null ? undefined : catalogue.find(provider.pricedAs, name))
  const listed = hasOthers && typeof named === 'string' ? find(named) : find(model)
  return checkReportedCost(usage, provider, listed, { hasBegun })
}

/** Whether the tokenizer counts what is missing: a prompt of text, and output that was sent as it was written. */
function isCountable(call: PricedCall, reported: TokenUsage | null): boolean {
  return isSentAsWritten(call) || (reported?.missing?.includes('completion') === false && isPromptOfText(call))
}

function count({ endpoint, body: request }: PricedCall, text: string, owner: number): Promise<Counted> {
  const counting = countAside({ endpoint: endpoint as Endpoint, request, text }, owner)
  // A worker that died of its job must not keep the request open.
  return counting.catch(() => ({
    promptTokens: estimatePromptTokens(request, endpoint),
    textTokens: estimateTextTokens(text),
  }))
}
