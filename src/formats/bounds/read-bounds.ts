/** Reads from a parsed request all that bounds what it may cost: small, so that it may come from a worker in place of the request. */
import { invalidRequest } from '../../errors/errors.ts'
import { isGiven, isJsonObject, type JsonObject } from '../json/canonical.ts'
import { findKeptReferences } from '../kept-references.ts'
import { boundOf, isCompaction } from './field-bounds.ts'
import { type Content, readContent } from './text-alone.ts'
import { type HostedTool, hostedTool, isPlainTool, readHostedTool } from './tool-bounds.ts'

export interface RequestBounds {
  /** Whether what the model reads is the request's own text alone. */
  isText: boolean
  /** Whether the model hears or speaks, which have prices of their own. */
  hasSoundInput: boolean
  hasSoundOutput: boolean
  /** Answers to be made: of each prompt, as many as are wanted, or as the best is taken from. Of pictures likewise. */
  answers: number
  /** The longest answer in tokens; null where the request does not say. */
  longestAnswer: number | null
  /** Whether answers may hold the request's prediction, too. */
  hasPrediction: boolean
  hasTools: boolean
  hosted: HostedTool[]
  /** Of all hosted tools together; null where the request does not say. */
  mostToolCalls: number | null
  /** Whether the provider may sum up the conversation before each answer. */
  isCompacted: boolean
  /** The service tier that is asked for, Anthropic's fast mode included; null where the request does not say. */
  tier: string | null
  /** Where Anthropic may compute: `global`, or a region, which costs more; null where the request does not say. */
  geo: string | null
  /** Any one of them may answer. */
  alternatives: string[]
  /** Each of them may be asked after the others. */
  fallbacks: string[]
  picture: PictureBounds
  /** How much slower than usual speech is to be. */
  slowness: number
  /** A field whose price nobody knows; null for none. */
  unbounded: string | null
}

export interface PictureBounds {
  pixels: number | null
  frames: number
  partial: number
}

/** The fields that limit an answer. At another endpoint they are not known, or dropped, and limit nothing. */
const ANSWER_LIMITS: ReadonlyMap<string, readonly string[]> = new Map([
  ['chat', ['max_tokens', 'max_completion_tokens']],
  ['completions', ['max_tokens']],
  ['messages', ['max_tokens']],
  ['responses', ['max_output_tokens']],
])

export interface BoundsOptions {
  /** A form's numbers are text. */
  isForm?: boolean
  /** Whether a number that is none counts as none given. */
  isLenient?: boolean
  /** What is in the request, where a worker has looked. */
  top?: TopContent | undefined
}

/** Throws a 400 for a number that is none: providers would not agree on what it says. */
export function readBounds(
  endpoint: string,
  body: JsonObject,
  { isForm = false, isLenient = false, top = readTop(endpoint, body) }: BoundsOptions = {},
): RequestBounds {
  const whole = (value: unknown, field: string) => readWhole(value, field, { isForm, isLenient })
  const { content, unbounded } = top
  const hosted = readHosted(endpoint, body, content, whole)
  return {
    isText: content.isText && hosted.length === 0,
    hasSoundInput: content.hasSound,
    hasSoundOutput: speaks(body),
    answers: readAnswers(endpoint, body, whole),
    longestAnswer: readLongest(endpoint, body, whole),
    hasPrediction: isGiven(body.prediction),
    hasTools: isGiven(body.tools) || isGiven(body.functions),
    hosted,
    mostToolCalls: endpoint === 'responses' ? whole(body.max_tool_calls, 'max_tool_calls') : null,
    isCompacted: isGiven(body.compaction) || compacts(endpoint, body.context_management),
    tier: readTier(endpoint, body),
    geo: nameOf(body.inference_geo),
    ...readOthers(body),
    picture: readPicture(body, whole),
    slowness: readSlowness(endpoint, body, isLenient),
    unbounded: unbounded ?? unboundedValue(body),
  }
}

/** What takes as long as the request is large to find. */
export interface TopContent {
  content: Content
  unbounded: string | null
}

export function readTop(endpoint: string, body: JsonObject): TopContent {
  const content: Content = { isText: true, hasSound: false, tools: [] }
  let unbounded: string | null = null
  for (const [field, value] of Object.entries(body)) {
    if (!isGiven(value)) continue
    const bound = boundOf(endpoint, field)
    if (bound === 'content' || field === 'tools') readContent(value, content)
    else if (bound === 'open') content.isText = false
    else if (bound === 'unbounded') unbounded ??= field
  }
  const tools = [...(Array.isArray(body.tools) ? body.tools : []), ...content.tools]
  // What stands for an item that its provider keeps is longer than its name.
  const isWhole = endpoint !== 'responses' || findKeptReferences(body, '').length === 0
  return { content: { ...content, tools, isText: content.isText && isWhole && tools.every(isPlainTool) }, unbounded }
}

/** What stands for some tools of its own counts as one of each. */
function readHosted(endpoint: string, body: JsonObject, { tools }: Content, whole: ReadWhole): HostedTool[] {
  const hosted = tools.flatMap(tool => readHostedTool(endpoint, tool, whole) ?? [])
  if (isGiven(body.web_search_options)) hosted.push(hostedTool('web_search'))
  if (Array.isArray(body.plugins)) hosted.push(...body.plugins.map(() => hostedTool('plugin')))
  if (Array.isArray(body.mcp_servers)) hosted.push(...body.mcp_servers.map(() => hostedTool('mcp_toolset')))
  if (isJsonObject(body.prompt))
    hosted.push(...['web_search', 'file_search', 'code_interpreter', 'image_generation'].map(hostedTool))
  return hosted
}

type ReadOptions = Required<Pick<BoundsOptions, 'isForm' | 'isLenient'>>
type ReadWhole = (value: unknown, field: string) => number | null

/** Null for what is not given, or limits nothing: zero, or below. */
function readWhole(value: unknown, field: string, { isForm, isLenient }: ReadOptions): number | null {
  if (!isGiven(value)) return null
  const number = isForm && typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  const isNumber = typeof number === 'number' && Number.isFinite(number)
  if (!isNumber && isLenient) return null
  if (!isNumber) throw invalidRequest(`${field} must be a whole number: it bounds what the request may cost.`, field)
  return number > 0 ? Math.ceil(number) : null
}

function readAnswers(endpoint: string, { n, best_of, prompt }: JsonObject, whole: ReadWhole): number {
  const each = Math.max(whole(n, 'n') ?? 1, whole(best_of, 'best_of') ?? 1)
  const isList = endpoint === 'completions' && Array.isArray(prompt) && typeof prompt[0] !== 'number'
  return each * (isList ? Math.max(1, prompt.length) : 1)
}

/** A fallback may have a limit of its own, and thinking a budget beyond it. */
function readLongest(endpoint: string, body: JsonObject, whole: ReadWhole): number | null {
  const fields = ANSWER_LIMITS.get(endpoint) ?? []
  const own = fields.flatMap(field => whole(body[field], field) ?? [])
  if (own.length === 0) return null
  const others = [body.fallbacks].flat().filter(isJsonObject)
  const theirs = others.flatMap(each => fields.flatMap(field => whole(each[field], `fallbacks[].${field}`) ?? []))
  const thinking = isJsonObject(body.thinking) ? whole(body.thinking.budget_tokens, 'thinking.budget_tokens') : null
  return Math.max(...own, ...theirs, thinking ?? 0)
}

function speaks({ audio, modalities }: JsonObject): boolean {
  const isOther = (modality: unknown) => modality !== 'text'
  return isGiven(audio) || (Array.isArray(modalities) ? modalities.some(isOther) : isGiven(modalities))
}

function compacts(endpoint: string, management: unknown): boolean {
  if (!isGiven(management)) return false
  if (endpoint === 'responses') return true
  const edits = isJsonObject(management) ? (management.edits ?? []) : null
  return !Array.isArray(edits) || edits.some(edit => isCompaction(isJsonObject(edit) ? edit.type : null))
}

/** Fast mode is a tier by its price. A fallback inherits it, or has its own. */
function readTier(endpoint: string, { service_tier: tier, speed, fallbacks }: JsonObject): string | null {
  const theirs = [fallbacks].flat().map(each => (isJsonObject(each) ? each.speed : null))
  const fast =
    endpoint === 'audio/speech' ? null : [speed, ...theirs].find(each => isGiven(each) && each !== 'standard')
  return nameOf(fast) ?? nameOf(tier)
}

/** Of a value that decides the price; null where it is not given. */
function nameOf(value: unknown): string | null {
  if (!isGiven(value)) return null
  return typeof value === 'string' && /^[\w-]{1,32}$/.test(value) ? value : 'unknown'
}

/** The other models that may answer: an aggregator's `models`, and `fallbacks`: at Anthropic objects with a model, or the word `default`. */
export function readOthers({ models, fallbacks }: JsonObject): Pick<RequestBounds, 'alternatives' | 'fallbacks'> {
  const isName = (model: unknown): model is string => typeof model === 'string'
  return {
    alternatives: Array.isArray(models) ? models.filter(isName) : [],
    fallbacks: [fallbacks]
      .flat()
      .map(each => (isJsonObject(each) ? each.model : each))
      .filter(isName),
  }
}

/** Frames that are made where an animation does not say how many. */
const USUAL_FRAMES = 9

function readPicture(body: JsonObject, whole: ReadWhole): PictureBounds {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(typeof body.size === 'string' ? body.size : '') ?? []
  const frames = whole(body.frame_count, 'frame_count')
  return {
    pixels: width === undefined ? null : Number(width) * Number(height),
    frames: frames ?? (body.output_format === 'gif' ? USUAL_FRAMES : 1),
    partial: whole(body.partial_images, 'partial_images') ?? 0,
  }
}

function readSlowness(endpoint: string, { speed }: JsonObject, isLenient: boolean): number {
  if (endpoint !== 'audio/speech' || !isGiven(speed)) return 1
  const isNumber = typeof speed === 'number' && speed > 0
  if (!isNumber && isLenient) return 1
  if (!isNumber) throw invalidRequest('speed must be a number.', 'speed')
  return Math.max(1, 1 / speed)
}

/** Values of known fields that the catalogue's prices do not cover. */
const QUALITIES: readonly unknown[] = ['low', 'medium', 'high', 'auto', 'standard', 'hd']

function unboundedValue({ quality, output_format, reasoning }: JsonObject): string | null {
  if (isGiven(quality) && !QUALITIES.includes(quality)) return 'quality'
  if (output_format === 'svg') return 'output_format'
  const mode = isJsonObject(reasoning) ? reasoning.mode : undefined
  return isGiven(mode) && mode !== 'standard' ? 'reasoning.mode' : null
}
