/** Computes the upper bound of a request's tokens by the kind of its model. */
import type { RequestCostFactors } from '../../formats/cost-factors.ts'
import type { HostedTool } from '../../formats/hosted-tools.ts'
import type { CatalogueModel } from '../../postgres/list-models.ts'

/** The parts of a request that bound its cost. */
export interface RequestSize {
  /** An `Endpoint`, or any other name for a request that generates nothing. */
  endpoint: string
  model: string
  /** Bytes of the request. A token has at least one byte. */
  bytes: number
  bounds: RequestCostFactors
  /** Upper bound of the seconds of audio that are sent. */
  seconds: number
  /** Whether `bounds.maxOutputTokens` was counted, rather than requested. */
  isCounted?: boolean
  /** Whether the request is passed through: it cannot carry a price limit. */
  isPassThrough?: boolean
}

/** Returns the size with as many output tokens, counted over all choices. Null removes the request's limit. */
export function withMaxOutputTokens(size: RequestSize, tokens: number | null): RequestSize {
  const responseCount = tokens === null ? size.bounds.responseCount : 1
  return {
    ...size,
    bounds: { ...size.bounds, maxOutputTokens: tokens, responseCount },
    isCounted: tokens !== null,
  }
}

/** Upper bounds of tokens; null if unknown. */
export interface TokenBounds {
  prompt: number | null
  output: number | null
}

/** Tokens that providers add to a prompt with tools. */
const TOOL_TOKENS = 1_000
/** OpenAI's tokens for an image of 1536 × 1024 in high quality. An input image in high fidelity takes 1,000 more. */
const IMAGE_TOKENS = 6_240
const IMAGE_PIXELS = 1_536 * 1_024
const INPUT_IMAGE_TOKENS = IMAGE_TOKENS + 1_000
const PARTIAL_IMAGE_TOKENS = 100
/** Images that an edit may read: 16, a mask and a markup. */
const MAX_INPUT_IMAGES = 18
/** Output tokens of speech per byte of text, with a margin for slow speech. */
const SPEECH_TOKENS_PER_BYTE = 4
/** Token limits of OpenAI's transcription models. */
const MAX_TRANSCRIPTION_INPUT_TOKENS = 16_000
const MAX_TRANSCRIPTION_OUTPUT_TOKENS = 2_000

export function maxTokens(size: RequestSize, model: CatalogueModel | undefined): TokenBounds {
  const { endpoint, bytes, bounds } = size
  const kind = model?.kind ?? 'chat'
  if (kind === 'image') return maxImageTokens(bounds, bytes, endpoint === 'images/generations' ? 0 : MAX_INPUT_IMAGES)
  if (kind === 'speech')
    return { prompt: bytes, output: Math.ceil(bytes * SPEECH_TOKENS_PER_BYTE * bounds.speechSlowdown) }
  if (kind === 'transcription')
    return { prompt: MAX_TRANSCRIPTION_INPUT_TOKENS, output: MAX_TRANSCRIPTION_OUTPUT_TOKENS }
  // Each input that is not text may fill the model's context.
  if (kind === 'embedding' && endpoint === 'embeddings' && !bounds.isTextOnly)
    return { prompt: model?.contextTokens ? model.contextTokens * bounds.responseCount : null, output: 0 }
  if (kind === 'embedding' || kind === 'moderation' || kind === 'rerank') return { prompt: bytes, output: 0 }
  return maxTokensOfText(size, model)
}

function maxTokensOfText(size: RequestSize, model: CatalogueModel | undefined): TokenBounds {
  const { bytes, bounds } = size
  const { isTextOnly, canCompact, hostedTools, responseCount, hasPrediction } = bounds
  const context = model?.contextTokens ?? null
  const sent = bytes + (bounds.hasTools ? TOOL_TOKENS : 0)
  const once = isTextOnly && !canCompact ? Math.min(sent, context ?? sent) : context
  const single = (isLimited(size, model) ? bounds.maxOutputTokens : null) ?? model?.maxOutputTokens ?? context
  if (once === null || single === null) return { prompt: once, output: single }
  // After each call of a hosted tool, the model reads the whole prompt again. Compaction makes it read the prompt once more and summarize.
  const rounds = 1 + maxToolCalls(hostedTools, bounds.maxToolCalls)
  const summaries = canCompact ? rounds * (model?.maxOutputTokens ?? context ?? single) : 0
  return {
    prompt: once * rounds * (canCompact ? 2 : 1),
    output: (single + (hasPrediction ? bytes : 0)) * responseCount + summaries,
  }
}

/** Upper bound of the calls of each hosted tool, if the request sets none. */
export const DEFAULT_TOOL_CALLS = 10

/** Returns how often these tools may be called. `limit` is the request's limit for all tools together; null if it sets none. */
export function maxToolCalls(tools: readonly HostedTool[], limit: number | null): number {
  const sum = tools.reduce((calls, { maxUses }) => calls + (maxUses ?? DEFAULT_TOOL_CALLS), 0)
  return Math.min(limit ?? sum, sum)
}

/** Whether the request's output limit is reliable: no unknown content can raise it, and the model has never exceeded a limit. */
function isLimited({ bounds, isCounted = false }: RequestSize, model: CatalogueModel | undefined): boolean {
  return isCounted || (!bounds.hasUnknownContent && model?.exceedsLimits !== true)
}

/** Providers exceed a limit by a few tokens, and some generate at least 16. */
const TOLERANCE_FACTOR = 1.1
const MIN_ENFORCED_LIMIT = 16

/** Whether a response with as many output tokens exceeds the request's limit, with a tolerance. */
export function isOverOutputLimit({ bytes, bounds }: RequestSize, outputTokens: number): boolean {
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
  const allowed = (Math.max(maxOutputTokens, MIN_ENFORCED_LIMIT) + (hasPrediction ? bytes : 0)) * responseCount
  return outputTokens > allowed * TOLERANCE_FACTOR
}

export function maxImageTokens({ image, responseCount }: RequestCostFactors, bytes: number, read = MAX_INPUT_IMAGES) {
  const scale = Math.max(1, (image.pixels ?? 0) / IMAGE_PIXELS)
  const each = Math.ceil(IMAGE_TOKENS * scale) * image.frames + image.partial * PARTIAL_IMAGE_TOKENS
  return { prompt: bytes + read * INPUT_IMAGE_TOKENS, output: responseCount * each }
}
