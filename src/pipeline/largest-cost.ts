/** The most that a request may cost, from its size and the catalogue: what a budget must have left before a provider is asked. */
import type { Largest } from '../admission/budgets.ts'
import { type Catalogue, type ToolCalls, toolsUsd } from '../catalogue/catalogue.ts'
import { isOwnMessageTool } from '../formats/messages/plan-messages.ts'
import { containerGigabytes, isOwnTool } from '../formats/responses/plan-responses.ts'
import { isJsonObject, type JsonObject } from '../json/canonical.ts'
import type { CatalogueModel } from '../postgres/list-models.ts'
import type { Endpoint, Provider } from '../providers/upstream.ts'
import { alternativesOf } from './parse-request.ts'
import type { CompletionQuery, PassedQuery } from './query.ts'

/** A request's size, as far as it bounds its cost. */
export interface RequestSize {
  /** What is asked, as in `Endpoint`; of what is not generated, any other name. */
  endpoint: string
  model: string
  /** Of what is sent. A token has at least one byte. */
  bytes: number
  body: JsonObject
  /** Whether it may name what takes more tokens than bytes, such as pictures by their addresses. */
  isOpen: boolean
}

export function sizeOf(query: CompletionQuery | PassedQuery): RequestSize {
  const { endpoint, model, body } = query
  if (query.kind === 'passed') return { endpoint, model, body, bytes: bytesOfPassed(query), isOpen: false }
  // What is large is not searched.
  const isOpen = query.bytes !== undefined || isOpenText(query.text, body)
  return { endpoint, model, body, bytes: query.bytes?.length ?? Buffer.byteLength(query.text), isOpen }
}

/** Fields for what is not text, or is kept elsewhere. Within a string, their quotation marks would be escaped. */
const OPEN_FIELD =
  /"(?:image_url|image_id|file_id|file_data|file_url|input_audio|video_url|source|previous_response_id|conversation|plugins|web_search_options)"\s*:/

export function isOpenText(text: string, { prompt, tools }: JsonObject): boolean {
  if (OPEN_FIELD.test(text)) return true
  if (typeof prompt === 'object' && prompt !== null && !Array.isArray(prompt)) return true
  return Array.isArray(tools) && tools.some(tool => !CLIENT_TOOLS.has(tool?.type))
}

/** What others read, and what the provider adds to a prompt for them, may be more than the request says. */
const CLIENT_TOOLS: ReadonlySet<unknown> = new Set([undefined, 'function', 'custom'])
/** What providers add to a prompt that has tools. */
const TOOL_TOKENS = 1_000

function bytesOfPassed({ passed, text }: PassedQuery): number {
  return passed.form?.bytes.length ?? Buffer.byteLength(text)
}

/** Null when the provider is free. Of several models that may answer, the dearest counts. */
export function largestCost(size: RequestSize, provider: Provider, catalogue: Pick<Catalogue, 'find'>): Largest | null {
  const { pricedAs } = provider
  if (pricedAs === null) return null
  const each = [size.model, ...alternativesOf(size.body)].map(model => largestOf(size, catalogue.find(pricedAs, model)))
  return { usd: largest(each.map(({ usd }) => usd)), tokens: largest(each.map(({ tokens }) => tokens)) }
}

/** Null if one of them is not known. */
function largest(amounts: readonly (number | null)[]): number | null {
  return amounts.includes(null) ? null : Math.max(...amounts.map(amount => amount ?? 0))
}

function largestOf(size: RequestSize, model: CatalogueModel | undefined): Largest {
  const { prompt, output } = largestTokens(size, model)
  const tokens = prompt === null || output === null ? null : prompt + output
  if (!model || tokens === null) return { usd: null, tokens }
  if (model.kind === 'speech' && model.outputUsdPerMillion === 0)
    return { usd: dollars(size.bytes * model.inputUsdPerMillion), tokens }
  if (model.kind === 'transcription' && model.outputUsdPerMillion === 0)
    return { usd: dollars((size.bytes / LEAST_BYTES_A_SECOND) * model.inputUsdPerMillion), tokens }
  const prices = [model, ...model.conditionalPrices.filter(row => mayApply(row, size.body, prompt ?? 0))]
  const input = Math.max(
    ...prices.flatMap(row => [
      row.inputUsdPerMillion,
      row.cacheWriteUsdPerMillion ?? 0,
      row.cacheWriteHourUsdPerMillion ?? 0,
    ]),
  )
  const { audio_input = 0, image_input = 0, audio_output = 0, request = 0 } = model.unitPrices
  const read = Math.max(input, audio_input, image_input)
  const written = Math.max(audio_output, ...prices.map(row => row.outputUsdPerMillion))
  const apart = request + toolsUsd(model.unitPrices, mostCalls(size).priced)
  return { usd: dollars((prompt ?? 0) * read + (output ?? 0) * written + apart * 1_000_000), tokens }
}

/** Without a limit of its own, a request has each tool that its provider runs called no more often than this. */
export const USUAL_TOOL_CALLS = 10

/** How often the provider runs tools of its own, and how many of these calls have prices. */
function mostCalls({ endpoint, body }: RequestSize): { calls: number; priced: ToolCalls } {
  const { tools, max_tool_calls, web_search_options } = body
  const isOwn = endpoint === 'responses' ? isOwnTool : endpoint === 'messages' ? isOwnMessageTool : isClientTool
  const hosted = (Array.isArray(tools) ? tools : []).filter(isJsonObject).filter(tool => !isOwn(tool))
  if (web_search_options !== undefined && web_search_options !== null) hosted.push({ type: 'web_search' })
  // At another endpoint these fields are not known, and limit nothing.
  const most = (endpoint === 'responses' ? whole(max_tool_calls) : null) ?? Number.POSITIVE_INFINITY
  const uses = (tool: JsonObject) => (endpoint === 'messages' ? whole(tool.max_uses) : null) ?? USUAL_TOOL_CALLS
  const sumOf = (called: readonly JsonObject[]) =>
    Math.min(
      most,
      called.reduce((sum, tool) => sum + uses(tool), 0),
    )
  const callsOf = (kind: string) => sumOf(hosted.filter(({ type }) => String(type).startsWith(kind)))
  const container = endpoint === 'responses' ? hosted.reduce((sum, tool) => sum + containerGigabytes(tool), 0) : 0
  return {
    calls: sumOf(hosted),
    priced: { search: callsOf('web_search'), file_search: callsOf('file_search'), container },
  }
}

function isClientTool({ type }: JsonObject): boolean {
  return CLIENT_TOOLS.has(type)
}

/** The answer's tier decides: without the usual one in the request, any may be the project's own at its provider. */
function mayApply(
  { tier, abovePromptTokens }: CatalogueModel['conditionalPrices'][number],
  { service_tier: asked }: JsonObject,
  prompt: number,
): boolean {
  return prompt > abovePromptTokens && (tier !== 'priority' || (asked !== 'default' && asked !== 'flex'))
}

/** Rounded up to what the database keeps. */
function dollars(timesMillion: number): number {
  return Math.ceil(timesMillion * 1_000) / 1_000_000_000
}

/** A picture of the largest size in the best quality, as OpenAI counts it. */
const IMAGE_TOKENS = 6_240
/** Slow speech: a letter takes less. */
const SPOKEN_TOKENS_A_BYTE = 4
/** No codec that providers accept sounds like speech below this. */
const LEAST_BYTES_A_SECOND = 500
/** Limits of OpenAI's models that transcribe. */
const HEARD_TOKENS = 16_000
const TRANSCRIBED_TOKENS = 2_000

/** Null for what is not known. */
function largestTokens(size: RequestSize, model: CatalogueModel | undefined) {
  const { endpoint, bytes, body, isOpen } = size
  const kind = model?.kind ?? 'chat'
  if (kind === 'image') {
    const images = whole(body.n) ?? 1
    const read = endpoint === 'images/generations' ? 0 : MOST_IMAGES_READ
    return { prompt: bytes + read * IMAGE_TOKENS, output: images * IMAGE_TOKENS }
  }
  if (kind === 'speech') return { prompt: bytes, output: bytes * SPOKEN_TOKENS_A_BYTE }
  if (kind === 'transcription') return { prompt: HEARD_TOKENS, output: TRANSCRIBED_TOKENS }
  const most = model?.contextTokens ?? null
  const told = bytes + (body.tools === undefined ? 0 : TOOL_TOKENS)
  if (kind === 'embedding' || kind === 'moderation' || kind === 'rerank') return { prompt: told, output: 0 }
  const once = isOpen ? most : Math.min(told, most ?? told)
  // After each call of a tool that the provider runs, the model reads all once more.
  const prompt = once && once * (1 + mostCalls(size).calls)
  const single = longestAnswer(endpoint, body) ?? model?.maxOutputTokens ?? most
  return { prompt, output: single === null ? null : single * Math.max(whole(body.n) ?? 1, whole(body.best_of) ?? 1) }
}

/** Of which an edit may hold this many. */
const MOST_IMAGES_READ = 16

/** The fields that limit an answer. At another endpoint they are not known, or dropped, and limit nothing. */
const ANSWER_LIMITS: Readonly<Record<string, readonly string[]>> = {
  chat: ['max_tokens', 'max_completion_tokens'],
  completions: ['max_tokens'],
  messages: ['max_tokens'],
  responses: ['max_output_tokens'],
} satisfies Partial<Record<Endpoint, readonly string[]>>

function longestAnswer(endpoint: string, body: JsonObject): number | null {
  // A fallback may have a limit of its own.
  const fallbacks = [body.fallbacks].flat().filter(isJsonObject)
  const limits = [body, ...fallbacks].flatMap(each => (ANSWER_LIMITS[endpoint] ?? []).map(field => each[field]))
  const given = limits.flatMap(limit => whole(limit) ?? [])
  return given.length === 0 ? null : Math.max(...given)
}

function whole(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.ceil(value) : null
}
