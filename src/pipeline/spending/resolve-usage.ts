/** Resolves a call's usage: as its provider reported it, else as counted or estimated. */
import { omitImplausibleCost } from '../../catalogue/reported-cost.ts'
import { readOutputLimit } from '../../formats/cost-factors.ts'
import type { Endpoint } from '../../formats/endpoint.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import { fillMissingCounts, markZeroCountsMissing, NO_USAGE, type TokenUsage } from '../../formats/token-usage.ts'
import { countTokensInWorker } from '../../formats/tokens/count-in-worker.ts'
import { estimatePromptTokens } from '../../formats/tokens/count-tokens.ts'
import { estimateTextTokens } from '../../formats/tokens/estimate-text.ts'
import type { TokenCountResult } from '../../formats/tokens/jobs.ts'
import type { ResponseAnalysis } from '../../providers/analyze-response.ts'
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

/** A provider's report about a finished call, and the output that was received. */
export interface CallUsageReport extends Pick<ResponseAnalysis, 'usage' | 'hasOutput' | 'text' | 'model'> {
  /** Whether the provider may have generated output that was not received: the connection broke, or the call continues elsewhere. */
  canHaveUsedTokens?: boolean
  /** The received part of the response, if a stream ended early. */
  partialResponse?: JsonObject | undefined
  /** Why the call ended early, if it did. */
  reason?: EstimateReason
  /** The service tier that the response names; null if it names none. */
  tier?: string | null
  /** Characters of output that `text` does not hold. */
  discardedChars?: number
}

/**
 * Returns the usage that the provider reported. Missing counts are counted by the tokenizer if the response shows all output that is
 * charged, or if the model has no price; else they are estimated. Without any output, the usage is what the provider reported, or none.
 */
export async function resolveCallUsage(call: PricedCall, report: CallUsageReport, owner: number): Promise<CallUsage> {
  const { usage, hasOutput, canHaveUsedTokens = false, partialResponse, model, text, reason = 'not_reported' } = report
  const modelFields = typeof model === 'string' ? { responseModel: model } : {}
  if (usage) recordIfOverLimit(call, usage)
  if (!hasOutput && !canHaveUsedTokens) return usage ? normalizeReportedUsage(call, usage, model) : NO_USAGE
  const validated = usage && markZeroCountsMissing(validateUsage(call, usage, model, true), { hasOutput })
  // A partial response's reported usage does not include the output that followed the report.
  const reported =
    validated && partialResponse
      ? { ...validated, missing: [...(validated.missing ?? []), 'completion' as const] }
      : validated
  if (reported && !reported.missing) return { ...reported, ...modelFields }
  const counted = await countTokens(call, text, owner)
  const known = withCountedTokens(call, { ...counted, tier: reported?.tier ?? report.tier ?? null })
  const isWhole = partialResponse === undefined && reason !== 'provider_failed'
  const missing = reported?.missing ?? BOTH_COUNTS
  const receivedUsage = {
    ...fillMissingCounts(reported ?? estimatePromptUsage(known), estimateCounts(report, counted, isWhole)),
    missing,
  }
  const isAllKnown = partialResponse ? isAllOutputVisible(call, partialResponse) : isCountable(call, reported)
  const charged = estimateUsage(
    known,
    { reason, isComplete: isAllKnown, outputTokens: reportedOutputTokens(reported, partialResponse) },
    receivedUsage,
  )
  const isCostKnown = reported !== null && reported.reportedCostUsd !== null && !partialResponse
  const isCounted = isWhole && (isAllKnown || charged.isUnpriced === true)
  if (charged.estimate && !isCostKnown && !isCounted) return { ...charged, ...modelFields }
  const { estimate: _estimate, ...used } = charged
  const reportedCostUsd = reported?.reportedCostUsd ?? null
  return { ...used, reportedCostUsd, isUnpriced: charged.isUnpriced === true && !isCostKnown, ...modelFields }
}

/** Records in the catalogue that the model exceeded the request's output limit, if it did. */
function recordIfOverLimit(call: PricedCall, { completionTokens }: TokenUsage): void {
  const limit = readOutputLimit(call.endpoint, call.body)
  if (limit === null || completionTokens <= limit) return
  const model = findPricedModel(call)
  if (model && isOverOutputLimit(call.size(), completionTokens)) call.catalogue.recordExceededLimit?.(model)
}

/** Returns the output tokens that the provider reported; null if it reported none, or the response is partial. */
function reportedOutputTokens(reported: TokenUsage | null, partialResponse: JsonObject | undefined): number | null {
  if (partialResponse || !reported) return null
  const { missing = [], completionTokens, totalTokens = 0 } = reported
  return (missing.includes('completion') ? totalTokens : completionTokens) || null
}

/** Estimates both counts. Discarded text is assumed to have as many tokens per character as the rest. */
function estimateCounts({ text, discardedChars = 0 }: CallUsageReport, counted: TokenCountResult, isWhole: boolean) {
  const share = text === '' ? 1 : 1 + discardedChars / text.length
  const estimate = { promptTokens: counted.promptTokens, completionTokens: Math.ceil(counted.textTokens * share) }
  if (isWhole) return estimate
  return { promptTokens: addMargin(estimate.promptTokens), completionTokens: addMargin(estimate.completionTokens) }
}

/** Returns the reported usage of a call without output. */
export function normalizeReportedUsage(call: PricedCall, usage: TokenUsage, model?: unknown): TokenUsage {
  return fillMissingCounts(validateUsage(call, usage, model, false), NO_USAGE)
}

function validateUsage(call: PricedCall, usage: TokenUsage, reportedModel: unknown, hasOutput: boolean): TokenUsage {
  const { provider, catalogue } = call
  const { model, hasOthers } = pricingKeyOf(call)
  const find = (name: string) => catalogue.find(provider.pricedAs, name)
  const listed = hasOthers && typeof reportedModel === 'string' ? find(reportedModel) : find(model)
  return omitImplausibleCost(usage, provider, listed, { hasBegun: hasOutput })
}

/** Whether the tokenizer can count what is missing: a prompt of text, and output that the response shows in full. */
function isCountable(call: PricedCall, reported: TokenUsage | null): boolean {
  return isAllOutputVisible(call) || (reported?.missing?.includes('completion') === false && isTextOnlyPrompt(call))
}

function countTokens({ endpoint, body: request }: PricedCall, text: string, owner: number): Promise<TokenCountResult> {
  const counts = countTokensInWorker({ endpoint: endpoint as Endpoint, request, text }, owner)
  // If the worker fails, counts are estimated, so that the request can finish.
  return counts.catch(() => ({
    promptTokens: estimatePromptTokens(request, endpoint),
    textTokens: estimateTextTokens(text),
  }))
}
