/** What a response used: as its provider reported it, else as it is counted or presumed. */
import { checkReportedCost } from '../catalogue/reported-cost.ts'
import { fillMissing, type MissingCount, markZeros, NO_USAGE, type TokenUsage } from '../formats/token-usage.ts'
import { countAside } from '../formats/tokens/count-aside.ts'
import { estimatePromptTokens } from '../formats/tokens/count-tokens.ts'
import { estimateTextTokens } from '../formats/tokens/estimate-text.ts'
import type { ResponseReading } from '../providers/read-response.ts'
import type { Endpoint } from '../providers/upstream.ts'
import {
  type AskedCall,
  type CutAnswer,
  isPromptOfText,
  isSentAsWritten,
  presumeBeside,
  presumeMost,
  presumeSent,
  presumeUpTo,
  pricedName,
} from './presumed-usage.ts'
import type { SpentUsage } from './spent-usage.ts'

/** What a provider reported of a call that has ended, and what came of it. */
export interface CallReport extends Pick<ResponseReading, 'usage' | 'hasBegun' | 'text' | 'model'> {
  /** Whether it may have produced a response that was not seen: a connection broke, or it ended in order, or goes on elsewhere. */
  mayHaveBegun?: boolean
  /** For a stream that ended early: what came of it. */
  cut?: CutAnswer | undefined
  /** Of the text, beyond what it holds. */
  lostChars?: number
}

/**
 * The usage that the provider reported. What it did not report of a response, the tokenizer counts where all that is charged was sent, or
 * where it has no price; else it is presumed. Where no response began, it has used what it reported, or nothing.
 */
export async function usageOf(
  call: AskedCall,
  { usage, hasBegun, mayHaveBegun = false, cut, model, text, lostChars = 0 }: CallReport,
  owner: number,
): Promise<SpentUsage> {
  const answeredAs = typeof model === 'string' ? { answeredAs: model } : {}
  if (!hasBegun && !mayHaveBegun) return usage ? asReported(call, usage, model) : NO_USAGE
  const told = usage && markZeros(believed(call, usage, model, true), { hasOutput: hasBegun })
  // What was written after that was not counted yet.
  const reported = told && cut ? { ...told, missing: [...(told.missing ?? []), 'completion' as const] } : told
  if (reported && !reported.missing) return { ...reported, ...answeredAs }
  const most = presumeFor(call, reported, cut)
  const isPriced = most.isPresumed === true && most.isUnpriced !== true
  const isCostKnown = reported !== null && reported.reportedCostUsd !== null && !cut
  if (isPriced && !isCostKnown && (cut || !isCountable(call, reported)))
    return { ...(reported ? presumeBeside(call, reported, most) : most), ...answeredAs }
  const counted = await count(call, text, owner)
  // What was given up is taken to have as many tokens as what was kept of it.
  const share = text === '' ? 1 : 1 + lostChars / text.length
  const estimate = { promptTokens: counted.promptTokens, completionTokens: Math.ceil(counted.textTokens * share) }
  return {
    ...fillMissing(reported ?? { ...NO_USAGE, missing: EITHER }, estimate),
    isUnpriced: most.isUnpriced === true && !isCostKnown,
    ...answeredAs,
  }
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

function presumeFor(call: AskedCall, reported: TokenUsage | null, cut: CutAnswer | undefined): SpentUsage {
  if (cut) return presumeSent(call, cut)
  const { missing = EITHER, completionTokens = 0, totalTokens } = reported ?? {}
  const written = missing.includes('completion') ? totalTokens : completionTokens
  return written ? presumeUpTo(call, written) : presumeMost(call)
}

/** Whether the tokenizer counts what is missing: a prompt of text, and output that was sent as it was written. */
function isCountable(call: AskedCall, reported: TokenUsage | null): boolean {
  return isSentAsWritten(call) || (reported?.missing?.includes('completion') === false && isPromptOfText(call))
}

function count({ endpoint, body: request }: AskedCall, text: string, owner: number) {
  const counting = countAside({ endpoint: endpoint as Endpoint, request, text }, owner)
  // A worker that died of its job must not keep the request open.
  return counting.catch(() => ({
    promptTokens: estimatePromptTokens(request, endpoint),
    textTokens: estimateTextTokens(text),
  }))
}
