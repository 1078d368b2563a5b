/** The most tokens that a request may take, by the kind of model that answers it. */
import type { RequestCostFactors } from '../../formats/cost-factors/read-cost-factors.ts'
import type { HostedTool } from '../../formats/cost-factors/summarize-content.ts'
import type { CatalogueModel } from '../../postgres/list-models.ts'

/** A request's size, as far as it bounds its cost. */
export interface RequestSize {
  /** What is asked, as in `Endpoint`; of what is not generated, any other name. */
  endpoint: string
  model: string
  /** Of what is sent. A token has at least one byte. */
  bytes: number
  bounds: RequestCostFactors
  /** Of sound that is sent: no more than these. */
  seconds: number
  /** Whether `bounds.longestAnswer` was counted, and not merely asked for. */
  isCounted?: boolean
  /** Whether it is passed through: no price limit can be sent with it. */
  isPassThrough?: boolean
}

/** The same request where these output tokens were counted; null: without a limit. A count holds for all of what was written. */
export function withMaxOutputTokens(size: RequestSize, tokens: number | null): RequestSize {
  const answers = tokens === null ? size.bounds.responseCount : 1
  return {
    ...size,
    bounds: { ...size.bounds, maxOutputTokens: tokens, responseCount: answers },
    isCounted: tokens !== null,
  }
}

/** Null for what is not known. */
export interface TokenBounds {
  prompt: number | null
  output: number | null
}

/** What providers add to a prompt that has tools. */
const TOOL_TOKENS = 1_000
/** A picture of 1536 × 1024 in high quality, as OpenAI counts it, or of that size as input in high fidelity, with what it costs in low. */
const PICTURE_TOKENS = 6_240
const PICTURE_PIXELS = 1_536 * 1_024
const READ_PICTURE_TOKENS = PICTURE_TOKENS + 1_000
const PARTIAL_PICTURE_TOKENS = 100
/** Of which an edit may hold this many, and a mask and a markup. */
const MOST_PICTURES_READ = 18
/** Slow speech: a letter takes less. */
const SPOKEN_TOKENS_A_BYTE = 4
/** Limits of OpenAI's models that transcribe. */
const HEARD_TOKENS = 16_000
const TRANSCRIBED_TOKENS = 2_000

export function maxTokens(size: RequestSize, model: CatalogueModel | undefined): TokenBounds {
  const { endpoint, bytes, bounds } = size
  const kind = model?.kind ?? 'chat'
  if (kind === 'image') return maxImageTokens(bounds, bytes, endpoint === 'images/generations' ? 0 : MOST_PICTURES_READ)
  if (kind === 'speech')
    return { prompt: bytes, output: Math.ceil(bytes * SPOKEN_TOKENS_A_BYTE * bounds.speechSlowdown) }
  if (kind === 'transcription') return { prompt: HEARD_TOKENS, output: TRANSCRIBED_TOKENS }
  // Each input that is not text may fill the model's context.
  if (kind === 'embedding' && endpoint === 'embeddings' && !bounds.isTextOnly)
    return { prompt: model?.contextTokens ? model.contextTokens * bounds.responseCount : null, output: 0 }
  if (kind === 'embedding' || kind === 'moderation' || kind === 'rerank') return { prompt: bytes, output: 0 }
  return maxTokensOfText(size, model)
}

function maxTokensOfText(size: RequestSize, model: CatalogueModel | undefined): TokenBounds {
  const { bytes, bounds } = size
  const { isTextOnly, canCompact, hostedTools, responseCount, hasPrediction } = bounds
  const most = model?.contextTokens ?? null
  const told = bytes + (bounds.hasTools ? TOOL_TOKENS : 0)
  const once = isTextOnly && !canCompact ? Math.min(told, most ?? told) : most
  const single = (isLimited(size, model) ? bounds.maxOutputTokens : null) ?? model?.maxOutputTokens ?? most
  if (once === null || single === null) return { prompt: once, output: single }
  // After each call of a tool that the provider runs, the model reads all once more; and all before it sums up what was said.
  const rounds = 1 + maxToolCalls(hostedTools, bounds.maxToolCalls)
  const summaries = canCompact ? rounds * (model?.maxOutputTokens ?? most ?? single) : 0
  return {
    prompt: once * rounds * (canCompact ? 2 : 1),
    output: (single + (hasPrediction ? bytes : 0)) * responseCount + summaries,
  }
}

/** Without a limit of its own, a request has each tool that its provider runs called no more often than this. */
export const DEFAULT_TOOL_CALLS = 10

/** How often these tools may be called. `most`: of all tools together; null where the request does not say. */
export function maxToolCalls(tools: readonly HostedTool[], most: number | null): number {
  const sum = tools.reduce((calls, { maxUses }) => calls + (maxUses ?? DEFAULT_TOOL_CALLS), 0)
  return Math.min(most ?? sum, sum)
}

/** Whether the request's limit can be relied on: nothing unknown may lift it, and the model has not exceeded one before. */
function isLimited({ bounds, isCounted = false }: RequestSize, model: CatalogueModel | undefined): boolean {
  return isCounted || (!bounds.hasUnknownContent && model?.exceedsLimits !== true)
}

/** Providers count a few tokens more than they were allowed, and some never stop before the sixteenth. */
const TOLERATED_SHARE = 1.1
const LEAST_LIMIT = 16

/** Whether a response with so many output tokens was longer than the request alone allowed. */
export function isOverOutputLimit({ bytes, bounds }: RequestSize, written: number): boolean {
  const {
    maxOutputTokens,
    responseCount,
    hasPrediction,
    hasUnknownContent,
    canCompact,
    hostedTools,
    alternatives,
    fallbacks,
  } = bounds
  if (maxOutputTokens === null || hasUnknownContent || canCompact) return false
  if (hostedTools.length + alternatives.length + fallbacks.length > 0) return false
  const allowed = (Math.max(maxOutputTokens, LEAST_LIMIT) + (hasPrediction ? bytes : 0)) * responseCount
  return written > allowed * TOLERATED_SHARE
}

export function maxImageTokens({ image, responseCount }: RequestCostFactors, bytes: number, read = MOST_PICTURES_READ) {
  const scale = Math.max(1, (image.pixels ?? 0) / PICTURE_PIXELS)
  const each = Math.ceil(PICTURE_TOKENS * scale) * image.frames + image.partial * PARTIAL_PICTURE_TOKENS
  return { prompt: bytes + read * READ_PICTURE_TOKENS, output: responseCount * each }
}
