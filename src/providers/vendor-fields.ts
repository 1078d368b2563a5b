/** Fields that providers take differently, written as this one takes them. All others stay as the client wrote them. */
import { Job } from '../event-loop/off-loop.ts'
import { isTranslated } from '../formats/format-of.ts'
import { isGiven, isJsonObject, type JsonObject } from '../formats/json/canonical.ts'
import { parseExactly } from '../formats/json/exact-json.ts'
import { isLong, runOnBody, withLongBody } from './long-body.ts'
import type { MaxPrice, UpstreamAnswer, UpstreamRequest } from './upstream.ts'

/** The names that a chat request's limit on its output may have. */
export type LimitName = 'max_tokens' | 'max_completion_tokens'
const LIMIT_NAMES: readonly LimitName[] = ['max_tokens', 'max_completion_tokens']

export interface FieldTraits {
  /** The names by which the provider takes the limit, the preferred one first; null where that is not known. */
  outputLimits: readonly LimitName[] | null
  /** Whether it knows `usage: {include: …}`, by which OpenRouter's clients ask for the usage of a stream. Others reject it. */
  takesUsageWish: boolean
  /** Whether it knows OpenRouter's `provider.max_price`. */
  limitsPrices: boolean
}

/** New values of fields; undefined removes one. */
export type FieldChanges = Readonly<Record<string, unknown>>

export interface SetFieldsInput {
  bytes: Uint8Array
  changes: FieldChanges
}

const SET = new Job<SetFieldsInput, Uint8Array>(new URL('./jobs.ts', import.meta.url), 'setFields')

export async function withFields(request: UpstreamRequest, changes: FieldChanges): Promise<UpstreamRequest> {
  if (Object.keys(changes).length === 0) return request
  const entries = Object.entries({ ...request.body, ...changes })
  const body = Object.fromEntries(entries.filter(([, value]) => value !== undefined))
  if (isLong(request)) return withLongBody(request, body, await runOnBody(SET, request, { changes }))
  return { ...request, body, bodyText: setFields(request.bodyText, changes) }
}

/** Written from the text, in which no number is rounded. */
export function setFields(bodyText: string, changes: FieldChanges): string {
  return JSON.stringify({ ...(parseExactly(bodyText) as JsonObject), ...changes })
}

export function changesFor(request: UpstreamRequest, traits: FieldTraits): FieldChanges {
  const { endpoint, body, maxPrice, onlyCounts = false } = request
  const { usage, provider } = body
  const isWish = isJsonObject(usage) && typeof usage.include === 'boolean' && !isTranslated(endpoint)
  return {
    ...(isWish && !traits.takesUsageWish && { usage: undefined }),
    ...(endpoint === 'chat' && limitChanges(body, traits.outputLimits)),
    ...(maxPrice && traits.limitsPrices && !onlyCounts && { provider: withMaxPrice(provider, maxPrice) }),
  }
}

/** Under the name that the client chose, if the provider takes that; where nothing is known, under both. */
function limitChanges(body: JsonObject, taken: FieldTraits['outputLimits']): FieldChanges {
  const given = LIMIT_NAMES.filter(name => isGiven(body[name]))
  const [name] = given
  if (name === undefined || given.length > 1 || taken?.includes(name)) return {}
  const other = taken?.[0] ?? otherThan(name)
  return { [other]: body[name], ...(taken !== null && { [name]: undefined }) }
}

function otherThan(name: LimitName): LimitName {
  return name === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
}

/** The client's own limits hold where they are lower. */
function withMaxPrice(provider: unknown, most: MaxPrice): JsonObject {
  const given = isJsonObject(provider) ? provider : {}
  const own = isJsonObject(given.max_price) ? given.max_price : {}
  const lower = (name: keyof MaxPrice) => {
    const price = isGiven(own[name]) ? Number(own[name]) : Number.NaN
    return price >= 0 && price < most[name] ? own[name] : most[name]
  }
  const limits = { prompt: lower('prompt'), completion: lower('completion'), request: lower('request') }
  return { ...given, max_price: { ...own, ...limits } }
}

/** How providers say that they do not take a field. */
const UNSUPPORTED =
  /unsupported|not (?:supported|permitted|allowed)|un(?:known|recogni[sz]ed|expected)|extra|forbidden/i

/**
 * The fields to change where a request was rejected because its limit was written under both names: of the two, the one that the rejection
 * names is removed, or else the one that was added. Null for any other rejection.
 */
export function withoutRejectedLimit(rejection: string, changes: FieldChanges): FieldChanges | null {
  const added = LIMIT_NAMES.find(name => isGiven(changes[name]))
  if (added === undefined || LIMIT_NAMES.some(name => name in changes && !isGiven(changes[name]))) return null
  const named = LIMIT_NAMES.filter(name => new RegExp(`\\b${name}\\b`).test(rejection))
  if (named.length === 0 || !UNSUPPORTED.test(rejection)) return null
  return { [named.includes(added) ? added : otherThan(added)]: undefined }
}

/** Reads a rejection, which can then be read again. */
export async function readRejection(answer: UpstreamAnswer): Promise<string | null> {
  if (answer.status !== 400 && answer.status !== 422) return null
  const text = await new Response(answer.body).text()
  answer.body = new Blob([text]).stream()
  return text
}
