/** The most tokens that a request may take, by what kind of model answers it. */
import type { RequestBounds } from '../formats/bounds/read-bounds.ts'
import { mostCalls } from '../formats/bounds/tool-bounds.ts'
import type { CatalogueModel } from '../postgres/list-models.ts'

/** A request's size, as far as it bounds its cost. */
export interface RequestSize {
  /** What is asked, as in `Endpoint`; of what is not generated, any other name. */
  endpoint: string
  model: string
  /** Of what is sent. A token has at least one byte. */
  bytes: number
  bounds: RequestBounds
  /** Of sound that is sent: no more than these. */
  seconds: number
}

/** Null for what is not known. */
export interface LargestTokens {
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

export function largestTokens(size: RequestSize, model: CatalogueModel | undefined): LargestTokens {
  const { endpoint, bytes, bounds } = size
  const kind = model?.kind ?? 'chat'
  if (kind === 'image') return picturesTokens(bounds, bytes, endpoint === 'images/generations' ? 0 : MOST_PICTURES_READ)
  if (kind === 'speech') return { prompt: bytes, output: Math.ceil(bytes * SPOKEN_TOKENS_A_BYTE * bounds.slowness) }
  if (kind === 'transcription') return { prompt: HEARD_TOKENS, output: TRANSCRIBED_TOKENS }
  if (kind === 'embedding' || kind === 'moderation' || kind === 'rerank') return { prompt: bytes, output: 0 }
  return largestOfText(size, model)
}

function largestOfText({ bytes, bounds }: RequestSize, model: CatalogueModel | undefined): LargestTokens {
  const { isText, isCompacted, hosted, answers, hasPrediction } = bounds
  const most = model?.contextTokens ?? null
  const told = bytes + (bounds.hasTools ? TOOL_TOKENS : 0)
  const once = isText && !isCompacted ? Math.min(told, most ?? told) : most
  const single = bounds.longestAnswer ?? model?.maxOutputTokens ?? most
  if (once === null || single === null) return { prompt: once, output: single }
  // After each call of a tool that the provider runs, the model reads all once more; and all before it sums up what was said.
  const rounds = 1 + mostCalls(hosted, bounds.mostToolCalls)
  const summaries = isCompacted ? rounds * (model?.maxOutputTokens ?? most ?? single) : 0
  return {
    prompt: once * rounds * (isCompacted ? 2 : 1),
    output: (single + (hasPrediction ? bytes : 0)) * answers + summaries,
  }
}

export function picturesTokens({ picture, answers }: RequestBounds, bytes: number, read = MOST_PICTURES_READ) {
  const scale = Math.max(1, (picture.pixels ?? 0) / PICTURE_PIXELS)
  const each = Math.ceil(PICTURE_TOKENS * scale) * picture.frames + picture.partial * PARTIAL_PICTURE_TOKENS
  return { prompt: bytes + read * READ_PICTURE_TOKENS, output: answers * each }
}
