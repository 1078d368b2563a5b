/** What a response used: as its provider reported it, else as it is counted or estimated. */
import { omitImplausibleCost } from '../../catalogue/reported-cost.ts'
import { readOutputLimit } from '../../formats/cost-factors/read-cost-factors.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import { fillMissingCounts, markZeroCountsMissing, NO_USAGE, type TokenUsage } from '../../formats/token-usage.ts'
import { countTokensInWorker } from '../../formats/tokens/count-in-worker.ts'
import { estimatePromptTokens } from '../../formats/tokens/count-tokens.ts'
import { estimateTextTokens } from '../../formats/tokens/estimate-text.ts'
import type { TokenCountResult } from '../../formats/tokens/jobs.ts'
import type { ResponseAnalysis } from '../../providers/analyze-response.ts'
import type { Endpoint } from '../../providers/upstream.ts'
import type { CallUsage, EstimateReason } from './call-usage.ts'
import {
  addMargin,
  BOTH_COUNTS,
  estimatePromptUsage,
  estimateUsage,
  findPricedModel,
  isTextOnlyPrompt,
  type PricedCall,
  pricingKeyOf,
  withCountedTokens,
} from './estimate-usage.ts'
import { isAllOutputVisible } from './hidden-output.ts'
import { isOverOutputLimit } from './max-tokens.ts'

/** What a provider reported of a call that has ended, and what came of it. */
export interface CallUsageReport extends Pick<ResponseAnalysis, 'usage' | 'hasOutput' | 'text' | 'model'> {
  /** Whether it may have produced a response that was not seen: a connection broke, or it ended in order, or goes on elsewhere. */
  canHaveUsedTokens?: boolean
  /** For a stream that ended early: the response as far as it came. */
  partialResponse?: JsonObject | undefined
  /** Why it ended early; by default it did not. */
  reason?: EstimateReason
  /** The service tier that the response names; null where it names none. */
  tier?: string | null
  /** Of the text, beyond what it holds. */
  discardedChars?: number
}

/**
 * The usage that the provider reported. What it did not report of a response, the tokenizer counts where all that is charged was sent, or
 * where it has no price; else it is estimated. Where no response began, it has used what it reported, or nothing.
 */
export async function resolveCallUsage(call: PricedCall, report: CallUsageReport, owner: number): Promise<CallUsage> {
  const { usage, hasOutput, canHaveUsedTokens = false, partialResponse, model, text, reason = 'not_reported' } = report
  const answeredAs = typeof model === 'string' ? { responseModel: model } : {}
  if (usage) checkLimit(call, usage)
  if (!hasOutput && !canHaveUsedTokens) return usage ? normalizeReportedUsage(call, usage, model) : NO_USAGE
  const told = usage && markZeroCountsMissing(believed(call, usage, model, true), { hasOutput })
  // What was written after that was not counted yet.
  const reported =
    told && partialResponse ? { ...told, missing: [...(told.missing ?? []), 'completion' as const] } : told
  if (reported && !reported.missing) return { ...reported, ...answeredAs }
  const counted = await count(call, text, owner)
  const known = withCountedTokens(call, { ...counted, tier: reported?.tier ?? report.tier ?? null })
  const isWhole = partialResponse === undefined && reason !== 'provider_failed'
  const missing = reported?.missing ?? BOTH_COUNTS
  const arrived = {
    ...fillMissingCounts(reported ?? estimatePromptUsage(known), estimateOf(report, counted, isWhole)),
    missing,
  }
  const isAllKnown = partialResponse ? isAllOutputVisible(call, partialResponse) : isCountable(call, reported)
  const charged = estimateUsage(
    known,
    { reason, isComplete: isAllKnown, outputTokens: writtenBy(reported, partialResponse) },
    arrived,
  )
  const isCostKnown = reported !== null && reported.reportedCostUsd !== null && !partialResponse
  const isCounted = isWhole && (isAllKnown || charged.isUnpriced === true)
  if (charged.estimate && !isCostKnown && !isCounted) return { ...charged, ...answeredAs }
  const { estimate: _estimate, ...used } = charged
  const reportedCostUsd = reported?.reportedCostUsd ?? null
  return { ...used, reportedCostUsd, isUnpriced: charged.isUnpriced === true && !isCostKnown, ...answeredAs }
}

/** Records a response that was longer than its request allowed. */
function checkLimit(call: PricedCall, { completionTokens }: TokenUsage): void {
  const limit = readOutputLimit(call.endpoint, call.body)
  if (limit === null || completionTokens <= limit) return
  const model = findPricedModel(call)
  if (model && isOverOutputLimit(call.size(), completionTokens)) call.catalogue.recordExceededLimit?.(model)
}

/** Tokens of the output, as far as the provider reported them. */
function writtenBy(reported: TokenUsage | null, cut: JsonObject | undefined): number | null {
  if (cut || !reported) return null
  const { missing = [], completionTokens, totalTokens = 0 } = reported
  return (missing.includes('completion') ? totalTokens : completionTokens) || null
}

/** What was given up of the text is taken to have as many tokens as what was kept of it. */
function estimateOf({ text, discardedChars = 0 }: CallUsageReport, counted: TokenCountResult, isWhole: boolean) {
  const share = text === '' ? 1 : 1 + discardedChars / text.length
  const estimate = { promptTokens: counted.promptTokens, completionTokens: Math.ceil(counted.textTokens * share) }
  if (isWhole) return estimate
  return { promptTokens: addMargin(estimate.promptTokens), completionTokens: addMargin(estimate.completionTokens) }
}

/** What a call used of which no response began: as far as its provider reported it. */
export function normalizeReportedUsage(call: PricedCall, usage: TokenUsage, model?: unknown): TokenUsage {
  return fillMissingCounts(believed(call, usage, model, false), NO_USAGE)
}

function believed(call: PricedCall, usage: TokenUsage, named: unknown, hasBegun: boolean): TokenUsage {
  const { provider, catalogue } = call
  const { model, hasOthers } = pricingKeyOf(call)
  const find = (name: string) => (provider.pricedAs === null ? undefined : catalogue.find(provider.pricedAs, name))
  const listed = hasOthers && typeof named === 'string' ? find(named) : find(model)
  return omitImplausibleCost(usage, provider, listed, { hasBegun })
}

/** Whether the tokenizer counts what is missing: a prompt of text, and output that was sent as it was written. */
function isCountable(call: PricedCall, reported: TokenUsage | null): boolean {
  return isAllOutputVisible(call) || (reported?.missing?.includes('completion') === false && isTextOnlyPrompt(call))
}

function count({ endpoint, body: request }: PricedCall, text: string, owner: number): Promise<TokenCountResult> {
  const counting = countTokensInWorker({ endpoint: endpoint as Endpoint, request, text }, owner)
  // A worker that died of its job must not keep the request open.
  return counting.catch(() => ({
    promptTokens: estimatePromptTokens(request, endpoint),
    textTokens: estimateTextTokens(text),
  }))
}
