/** Fields that providers take differently, written as this one takes them. All others stay as the client wrote them. */
import { WorkerJob } from '../event-loop/worker-pool.ts'
import { isTranslatableEndpoint } from '../formats/endpoint-formats.ts'
import { isJsonObject, isPresent, type JsonObject } from '../formats/json/canonical.ts'
import { parseLosslessJson } from '../formats/json/lossless-json.ts'
import { isLongRequest, replaceLongBody, runBodyJob } from './long-body.ts'
import type { MaxPrice, UpstreamRequest, UpstreamResponse } from './upstream.ts'

/** The names that a chat request's limit on its output may have. */
export type OutputLimitField = 'max_tokens' | 'max_completion_tokens'
const LIMIT_NAMES: readonly OutputLimitField[] = ['max_tokens', 'max_completion_tokens']

export interface FieldSupport {
  /** The names by which the provider takes the limit, the preferred one first; null where that is not known. */
  outputLimits: readonly OutputLimitField[] | null
  /** Whether it knows `usage: {include: …}`, by which OpenRouter's clients ask for the usage of a stream. Others reject it. */
  acceptsUsageOption: boolean
  /** Whether it knows OpenRouter's `provider.max_price`. */
  enforcesMaxPrice: boolean
}

/** New values of fields; undefined removes one. */
export type FieldChanges = Readonly<Record<string, unknown>>

export interface SetFieldsInput {
  bytes: Uint8Array
  changes: FieldChanges
}

const SET = new WorkerJob<SetFieldsInput, Uint8Array>(new URL('./jobs.ts', import.meta.url), 'setFieldsJob')

export async function applyFieldChanges(request: UpstreamRequest, changes: FieldChanges): Promise<UpstreamRequest> {
  if (Object.keys(changes).length === 0) return request
  const entries = Object.entries({ ...request.body, ...changes })
  const body = Object.fromEntries(entries.filter(([, value]) => value !== undefined))
  if (isLongRequest(request)) return replaceLongBody(request, body, await runBodyJob(SET, request, { changes }))
  return { ...request, body, bodyText: setFields(request.bodyText, changes) }
}

/** Written from the text, in which no number is rounded. */
export function setFields(bodyText: string, changes: FieldChanges): string {
  return JSON.stringify({ ...(parseLosslessJson(bodyText) as JsonObject), ...changes })
}

export function resolveFieldChanges(request: UpstreamRequest, traits: FieldSupport): FieldChanges {
  const { endpoint, body, maxPrice, isCountOnly = false } = request
  const { usage, provider } = body
  const isWish = isJsonObject(usage) && typeof usage.include === 'boolean' && !isTranslatableEndpoint(endpoint)
  return {
    ...(isWish && !traits.acceptsUsageOption && { usage: undefined }),
    ...(endpoint === 'chat' && limitChanges(body, traits.outputLimits)),
    ...(maxPrice && traits.enforcesMaxPrice && !isCountOnly && { provider: withMaxPrice(provider, maxPrice) }),
  }
}

/** Under the name that the client chose, if the provider takes that; where nothing is known, under both. */
function limitChanges(body: JsonObject, taken: FieldSupport['outputLimits']): FieldChanges {
  const given = LIMIT_NAMES.filter(name => isPresent(body[name]))
  const [name] = given
  if (name === undefined || given.length > 1 || taken?.includes(name)) return {}
  const other = taken?.[0] ?? otherThan(name)
  return { [other]: body[name], ...(taken !== null && { [name]: undefined }) }
}

function otherThan(name: OutputLimitField): OutputLimitField {
  return name === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
}

/** The client's own limits hold where they are lower. */
function withMaxPrice(provider: unknown, most: MaxPrice): JsonObject {
  const given = isJsonObject(provider) ? provider : {}
  const own = isJsonObject(given.max_price) ? given.max_price : {}
  const lower = (name: keyof MaxPrice) => {
    const price = isPresent(own[name]) ? Number(own[name]) : Number.NaN
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
export function resolveRejectedLimit(rejection: string, changes: FieldChanges): FieldChanges | null {
  const added = LIMIT_NAMES.find(name => isPresent(changes[name]))
  if (added === undefined || LIMIT_NAMES.some(name => name in changes && !isPresent(changes[name]))) return null
  const named = LIMIT_NAMES.filter(name => new RegExp(`\\b${name}\\b`).test(rejection))
  if (named.length === 0 || !UNSUPPORTED.test(rejection)) return null
  return { [named.includes(added) ? added : otherThan(added)]: undefined }
}

/** Reads a rejection, which can then be read again. */
export async function readRejection(answer: UpstreamResponse): Promise<string | null> {
  if (answer.status !== 400 && answer.status !== 422) return null
  const text = await new Response(answer.body).text()
  answer.body = new Blob([text]).stream()
  return text
}
