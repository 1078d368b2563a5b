/** Reads the factors that bound a request's cost. The result is small, so that a worker can return it instead of the request. */
import { invalidRequestError } from '../errors/errors.ts'
import { type BodyFacts, readBodyFacts } from './body-facts.ts'
import { countInputs } from './expected-output.ts'
import { type HostedTool, isFreePdfParser, type LimitReader, readHostedTools } from './hosted-tools.ts'
import { asObjects, isJsonObject, isPresent, type JsonObject } from './json/canonical.ts'
import * as known from './known-content.ts'

export interface RequestCostFactors {
  /** Whether the model reads only the request's text, in which a token has at least one byte. */
  isTextOnly: boolean
  /** Whether the request contains an unknown field or unknown content. Its limits and tier then do not count. */
  hasUnknownContent: boolean
  /** Whether the request contains audio, which has separate prices. */
  hasAudioInput: boolean
  hasAudioOutput: boolean
  /** Number of responses to generate: `n` or `best_of` for each prompt. Images and vectors count likewise. */
  responseCount: number
  /** Maximum length of a response in tokens; null if the request sets no limit. */
  maxOutputTokens: number | null
  /** Whether the request has a prediction, whose tokens are charged as output. */
  hasPrediction: boolean
  hasTools: boolean
  hostedTools: HostedTool[]
  /** Maximum number of calls of all hosted tools together; null if the request sets none. */
  maxToolCalls: number | null
  /** Whether the provider may summarize the conversation before each response. */
  canCompact: boolean
  /** The requested service tier, or Anthropic's fast mode; null if the request sets none. */
  tier: string | null
  /** Where Anthropic may run the model: `global`, or a region, which costs more; null if the request sets none. */
  geo: string | null
  /** Models any one of which may respond. */
  alternatives: string[]
  /** Models that may be called one after the other. */
  fallbacks: string[]
  image: { pixels: number | null; frames: number; partial: number }
  /** Factor by which speech is slower than by default. */
  speechSlowdown: number
  /** A field that has no known price; null for none. */
  unpricedField: string | null
  /** Fields and content that an aggregator may charge for in addition to the model's tokens: `provider`, `preset`, `file`. */
  aggregatorCharges: string[]
}

/** The fields that limit a response, by endpoint. Other endpoints do not know them or drop them. */
const OUTPUT_LIMIT_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['chat', ['max_tokens', 'max_completion_tokens']],
  ['completions', ['max_tokens']],
  ['messages', ['max_tokens']],
  ['responses', ['max_output_tokens']],
  ['generate_content', ['max_completion_tokens']],
])

export interface CostFactorOptions {
  /** Whether the request is a form, whose numbers are text. */
  isForm?: boolean
  /** Whether an invalid number counts as absent. */
  isLenient?: boolean
  /** The body's facts, if they are already known. */
  facts?: BodyFacts | undefined
}

/** Reads the cost factors. Throws a 400 for an invalid number, which providers would interpret differently. */
export function readCostFactors(
  endpoint: string,
  body: JsonObject,
  { isForm = false, isLenient = false, facts: { content } = readBodyFacts(body) }: CostFactorOptions = {},
): RequestCostFactors {
  const readLimit = (value: unknown, field: string) => readPositiveNumber(value, field, { isForm, isLenient })
  const hostedTools = readHostedTools(endpoint, body, content.tools, readLimit)
  return {
    isTextOnly: content.isTextOnly && hostedTools.length === 0,
    hasUnknownContent: content.hasUnknownContent,
    hasAudioInput: content.hasAudio,
    hasAudioOutput: requestsAudio(body),
    responseCount: readResponseCount(endpoint, body, readLimit),
    maxOutputTokens: readMaxOutputTokens(endpoint, body, readLimit),
    hasPrediction: isPresent(body.prediction),
    hasTools: isPresent(body.tools) || isPresent(body.functions),
    hostedTools,
    maxToolCalls: endpoint === 'responses' ? readLimit(body.max_tool_calls, 'max_tool_calls') : null,
    canCompact: isPresent(body.compaction) || mayCompact(endpoint, body.context_management),
    tier: readTier(endpoint, body),
    geo: nameOf(body.inference_geo),
    ...readAlternativeModels(body),
    image: readImageFactors(body, readLimit),
    speechSlowdown: readSpeechSlowdown(endpoint, body, isLenient),
    unpricedField: /^images\//.test(endpoint) ? findUnpricedImageField(body) : findUnpricedField(body),
    aggregatorCharges: [
      ...['provider', 'preset'].filter(field => isPresent(body[field])),
      ...(content.hasFile && !asObjects(body.plugins).some(isFreePdfParser) ? ['file'] : []),
    ],
  }
}

/** Reads only the request's output limit in tokens; null for none. */
export function readOutputLimit(endpoint: string, body: JsonObject): number | null {
  return readMaxOutputTokens(endpoint, body, (value, field) =>
    readPositiveNumber(value, field, { isForm: false, isLenient: true }),
  )
}

type ReadOptions = Required<Pick<CostFactorOptions, 'isForm' | 'isLenient'>>

/** Returns the number, rounded up; null if it is absent, zero or negative, because it then limits nothing. */
function readPositiveNumber(value: unknown, field: string, { isForm, isLenient }: ReadOptions): number | null {
  if (!isPresent(value)) return null
  const number = isForm && typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  const isNumber = typeof number === 'number' && Number.isFinite(number)
  if (!isNumber && isLenient) return null
  if (!isNumber)
    throw invalidRequestError(`${field} must be a whole number, because it limits the cost of the request.`, field)
  return number > 0 ? Math.ceil(number) : null
}

function readResponseCount(
  endpoint: string,
  { n, best_of, prompt, input }: JsonObject,
  readLimit: LimitReader,
): number {
  const each = Math.max(readLimit(n, 'n') ?? 1, readLimit(best_of, 'best_of') ?? 1)
  const list = endpoint === 'completions' ? prompt : endpoint === 'embeddings' ? input : null
  return each * countInputs(list)
}

/** Returns the maximum of the request's limit, those of its fallbacks, and its thinking budget. */
function readMaxOutputTokens(endpoint: string, body: JsonObject, readLimit: LimitReader): number | null {
  const fields = OUTPUT_LIMIT_FIELDS.get(endpoint) ?? []
  const limits = fields.flatMap(field => readLimit(body[field], field) ?? [])
  if (limits.length === 0) return null
  const fallbacks = asObjects([body.fallbacks].flat())
  const fallbackLimits = fallbacks.flatMap(each =>
    fields.flatMap(field => readLimit(each[field], `fallbacks[].${field}`) ?? []),
  )
  const { thinking, reasoning } = body
  const budgets = [
    isJsonObject(thinking) ? readLimit(thinking.budget_tokens, 'thinking.budget_tokens') : null,
    isJsonObject(reasoning) ? readLimit(reasoning.max_tokens, 'reasoning.max_tokens') : null,
  ]
  return Math.max(...limits, ...fallbackLimits, ...budgets.map(tokens => tokens ?? 0))
}

function requestsAudio({ audio, modalities }: JsonObject): boolean {
  const isNotText = (modality: unknown) => modality !== 'text'
  return isPresent(audio) || (Array.isArray(modalities) ? modalities.some(isNotText) : isPresent(modalities))
}

function mayCompact(endpoint: string, management: unknown): boolean {
  if (!isPresent(management)) return false
  if (endpoint === 'responses') return true
  const edits = isJsonObject(management) ? (management.edits ?? []) : null
  return !Array.isArray(edits) || edits.some(edit => !isJsonObject(edit) || !known.isFreeContextEdit(edit.type))
}

/** Returns the tier. Fast mode counts as a tier because of its price. A fallback inherits it or sets its own. */
function readTier(endpoint: string, { service_tier: tier, speed, fallbacks }: JsonObject): string | null {
  const fallbackSpeeds = asObjects([fallbacks].flat()).map(each => each.speed)
  const fast =
    endpoint === 'audio/speech' ? null : [speed, ...fallbackSpeeds].find(each => isPresent(each) && each !== 'standard')
  return nameOf(fast) ?? nameOf(tier)
}

/** Returns the name of a value that affects the price, `unknown` for an odd one; null if it is absent. */
function nameOf(value: unknown): string | null {
  if (!isPresent(value)) return null
  return typeof value === 'string' && /^[\w-]{1,32}$/.test(value) ? value : 'unknown'
}

/** Reads the other models that may respond: an aggregator's `models`, and `fallbacks`, which at Anthropic are objects with a model, or `default`. */
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

/** Number of frames of an animation if the request sets none. */
const DEFAULT_FRAMES = 9

function readImageFactors(body: JsonObject, readLimit: LimitReader): RequestCostFactors['image'] {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(typeof body.size === 'string' ? body.size : '') ?? []
  return {
    pixels: width === undefined ? null : Number(width) * Number(height),
    frames: readLimit(body.frame_count, 'frame_count') ?? (body.output_format === 'gif' ? DEFAULT_FRAMES : 1),
    partial: readLimit(body.partial_images, 'partial_images') ?? 0,
  }
}

function readSpeechSlowdown(endpoint: string, { speed }: JsonObject, isLenient: boolean): number {
  if (endpoint !== 'audio/speech' || !isPresent(speed)) return 1
  const isNumber = typeof speed === 'number' && speed > 0
  if (!isNumber && isLenient) return 1
  if (!isNumber) throw invalidRequestError('speed must be a number above 0.', 'speed')
  return Math.max(1, 1 / speed)
}

function findUnpricedImageField(body: JsonObject): string | null {
  const isUnpriced = ([field, value]: [string, unknown]) =>
    isPresent(value) &&
    (!known.IMAGE_REQUEST_FIELDS.has(field.replace(/\[\]$/, '')) ||
      known.KNOWN_IMAGE_VALUES[field]?.has(value as string) === false)
  return Object.entries(body).find(isUnpriced)?.[0] ?? null
}

/** Finds a field whose cost is not bounded: any number of agents, or a reasoning mode that runs the model several times. */
function findUnpricedField({ multi_agent, reasoning }: JsonObject): string | null {
  if (isPresent(multi_agent)) return 'multi_agent'
  const mode = isJsonObject(reasoning) ? reasoning.mode : null
  return isPresent(mode) && mode !== 'standard' ? 'reasoning.mode' : null
}
