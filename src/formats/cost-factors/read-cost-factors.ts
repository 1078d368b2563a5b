/** Reads from a parsed request everything that bounds its cost: small, so that a worker can return it in place of the request. */
import { invalidRequestError } from '../../errors/errors.ts'
import { asObjects, isJsonObject, isPresent, type JsonObject } from '../json/canonical.ts'
import * as known from './allow-list.ts'
import {
  type ContentSummary,
  type HostedTool,
  isFreePdfParser,
  type LimitReader,
  readHostedTools,
  summarizeContent,
} from './summarize-content.ts'

export interface RequestCostFactors {
  /** Whether the model reads the request's own text alone, of which a token has at least a byte. */
  isTextOnly: boolean
  /** Whether it holds a field or content that is not known: then its own limits and tier do not count. */
  hasUnknownContent: boolean
  /** Whether the model hears or speaks, which have prices of their own. */
  hasAudioInput: boolean
  hasAudioOutput: boolean
  /** Responses to be written: for each prompt, as many as are wanted, or as the best is chosen from. Of pictures and vectors likewise. */
  responseCount: number
  /** The longest response in tokens; null where the request has no limit. */
  maxOutputTokens: number | null
  /** Whether responses may hold the request's prediction, too. */
  hasPrediction: boolean
  hasTools: boolean
  hostedTools: HostedTool[]
  /** Of all hosted tools together; null where the request does not say. */
  maxToolCalls: number | null
  /** Whether the provider may sum up the conversation before each response. */
  canCompact: boolean
  /** The service tier that is asked for, Anthropic's fast mode included; null where the request does not say. */
  tier: string | null
  /** Where Anthropic may compute: `global`, or a region, which costs more; null where the request does not say. */
  geo: string | null
  /** Any one of them may answer. */
  alternatives: string[]
  /** Each of them may be asked after the others. */
  fallbacks: string[]
  image: { pixels: number | null; frames: number; partial: number }
  /** How much slower than usual speech is to be. */
  speechSlowdown: number
  /** A field that has no known price; null for none. */
  unpricedField: string | null
  /** Fields and content that an aggregator charges for beside the model's tokens: `provider`, `preset`, `file`. */
  aggregatorCharges: string[]
}

/** The fields that limit a response. At another endpoint they are not known, or dropped, and limit nothing. */
const ANSWER_LIMITS: ReadonlyMap<string, readonly string[]> = new Map([
  ['chat', ['max_tokens', 'max_completion_tokens']],
  ['completions', ['max_tokens']],
  ['messages', ['max_tokens']],
  ['responses', ['max_output_tokens']],
])

export interface CostFactorOptions {
  /** A form's numbers are text. */
  isForm?: boolean
  /** Whether a number that is none counts as none given. */
  isLenient?: boolean
  /** What is in the request, where a worker has looked. */
  contentSummary?: ContentSummary | undefined
}

/** Throws a 400 for a number that is none: providers would not agree on what it says. */
export function readCostFactors(
  endpoint: string,
  body: JsonObject,
  { isForm = false, isLenient = false, contentSummary = summarizeContent(endpoint, body) }: CostFactorOptions = {},
): RequestCostFactors {
  const whole = (value: unknown, field: string) => readWhole(value, field, { isForm, isLenient })
  const hosted = readHostedTools(endpoint, body, contentSummary, whole)
  return {
    isTextOnly: contentSummary.isTextOnly && hosted.length === 0,
    hasUnknownContent: contentSummary.hasUnknownContent,
    hasAudioInput: contentSummary.hasAudio,
    hasAudioOutput: speaks(body),
    responseCount: readAnswers(endpoint, body, whole),
    maxOutputTokens: readLongest(endpoint, body, whole),
    hasPrediction: isPresent(body.prediction),
    hasTools: isPresent(body.tools) || isPresent(body.functions),
    hostedTools: hosted,
    maxToolCalls: endpoint === 'responses' ? whole(body.max_tool_calls, 'max_tool_calls') : null,
    canCompact: isPresent(body.compaction) || compacts(endpoint, body.context_management),
    tier: readTier(endpoint, body),
    geo: nameOf(body.inference_geo),
    ...readAlternativeModels(body),
    image: readPicture(body, whole),
    speechSlowdown: readSlowness(endpoint, body, isLenient),
    unpricedField: /^images\//.test(endpoint) ? unpricedPicture(body) : unpricedField(body),
    aggregatorCharges: [
      ...['provider', 'preset'].filter(field => isPresent(body[field])),
      ...(contentSummary.hasFile && !asObjects(body.plugins).some(isFreePdfParser) ? ['file'] : []),
    ],
  }
}

/** The limit on a response alone, without the rest of the request; null for none. */
export function readOutputLimit(endpoint: string, body: JsonObject): number | null {
  return readLongest(endpoint, body, (value, field) => readWhole(value, field, { isForm: false, isLenient: true }))
}

type ReadOptions = Required<Pick<CostFactorOptions, 'isForm' | 'isLenient'>>

/** Null for what is not given, or limits nothing: zero, or below. */
function readWhole(value: unknown, field: string, { isForm, isLenient }: ReadOptions): number | null {
  if (!isPresent(value)) return null
  const number = isForm && typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  const isNumber = typeof number === 'number' && Number.isFinite(number)
  if (!isNumber && isLenient) return null
  if (!isNumber)
    throw invalidRequestError(`${field} must be a whole number: it bounds what the request may cost.`, field)
  return number > 0 ? Math.ceil(number) : null
}

function readAnswers(endpoint: string, { n, best_of, prompt, input }: JsonObject, whole: LimitReader): number {
  const each = Math.max(whole(n, 'n') ?? 1, whole(best_of, 'best_of') ?? 1)
  const list = endpoint === 'completions' ? prompt : endpoint === 'embeddings' ? input : null
  return each * (Array.isArray(list) && typeof list[0] !== 'number' ? Math.max(1, list.length) : 1)
}

/** A fallback may have a limit of its own, and thinking a budget beyond it. */
function readLongest(endpoint: string, body: JsonObject, whole: LimitReader): number | null {
  const fields = ANSWER_LIMITS.get(endpoint) ?? []
  const own = fields.flatMap(field => whole(body[field], field) ?? [])
  if (own.length === 0) return null
  const others = asObjects([body.fallbacks].flat())
  const theirs = others.flatMap(each => fields.flatMap(field => whole(each[field], `fallbacks[].${field}`) ?? []))
  const { thinking, reasoning } = body
  const budgets = [
    isJsonObject(thinking) ? whole(thinking.budget_tokens, 'thinking.budget_tokens') : null,
    isJsonObject(reasoning) ? whole(reasoning.max_tokens, 'reasoning.max_tokens') : null,
  ]
  return Math.max(...own, ...theirs, ...budgets.map(tokens => tokens ?? 0))
}

function speaks({ audio, modalities }: JsonObject): boolean {
  const isOther = (modality: unknown) => modality !== 'text'
  return isPresent(audio) || (Array.isArray(modalities) ? modalities.some(isOther) : isPresent(modalities))
}

function compacts(endpoint: string, management: unknown): boolean {
  if (!isPresent(management)) return false
  if (endpoint === 'responses') return true
  const edits = isJsonObject(management) ? (management.edits ?? []) : null
  return !Array.isArray(edits) || edits.some(edit => !isJsonObject(edit) || !known.isFreeContextEdit(edit.type))
}

/** Fast mode is a tier by its price. A fallback inherits it, or has its own. */
function readTier(endpoint: string, { service_tier: tier, speed, fallbacks }: JsonObject): string | null {
  const theirs = asObjects([fallbacks].flat()).map(each => each.speed)
  const fast =
    endpoint === 'audio/speech' ? null : [speed, ...theirs].find(each => isPresent(each) && each !== 'standard')
  return nameOf(fast) ?? nameOf(tier)
}

/** Of a value that decides the price; null where it is not given. */
function nameOf(value: unknown): string | null {
  if (!isPresent(value)) return null
  return typeof value === 'string' && /^[\w-]{1,32}$/.test(value) ? value : 'unknown'
}

/** The other models that may answer: an aggregator's `models`, and `fallbacks`: at Anthropic objects with a model, or the word `default`. */
export function readAlternativeModels({
  models,
  fallbacks,
}: JsonObject): Pick<RequestCostFactors, 'alternatives' | 'fallbacks'> {
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

function readPicture(body: JsonObject, whole: LimitReader): RequestCostFactors['image'] {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(typeof body.size === 'string' ? body.size : '') ?? []
  return {
    pixels: width === undefined ? null : Number(width) * Number(height),
    frames: whole(body.frame_count, 'frame_count') ?? (body.output_format === 'gif' ? USUAL_FRAMES : 1),
    partial: whole(body.partial_images, 'partial_images') ?? 0,
  }
}

function readSlowness(endpoint: string, { speed }: JsonObject, isLenient: boolean): number {
  if (endpoint !== 'audio/speech' || !isPresent(speed)) return 1
  const isNumber = typeof speed === 'number' && speed > 0
  if (!isNumber && isLenient) return 1
  if (!isNumber) throw invalidRequestError('speed must be a number.', 'speed')
  return Math.max(1, 1 / speed)
}

function unpricedPicture(body: JsonObject): string | null {
  const isUnpriced = ([field, value]: [string, unknown]) =>
    isPresent(value) &&
    (!known.IMAGE_REQUEST_FIELDS.has(field.replace(/\[\]$/, '')) ||
      known.KNOWN_IMAGE_VALUES[field]?.has(value as string) === false)
  return Object.entries(body).find(isUnpriced)?.[0] ?? null
}

/** As many agents as the model likes; a mode of reasoning that runs the model several times. */
function unpricedField({ multi_agent, reasoning }: JsonObject): string | null {
  if (isPresent(multi_agent)) return 'multi_agent'
  const mode = isJsonObject(reasoning) ? reasoning.mode : null
  return isPresent(mode) && mode !== 'standard' ? 'reasoning.mode' : null
}
