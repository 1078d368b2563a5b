/** Chooses the changes of fields that providers support differently. */
import { isTranslatableEndpoint } from '../formats/endpoint-formats.ts'
import { isJsonObject, isPresent, type JsonObject } from '../formats/json/canonical.ts'
import type { FieldChanges } from './long-body.ts'
import type { MaxPrice, UpstreamRequest, UpstreamResponse } from './upstream.ts'

/** The names of the field that limits the output of a chat request. */
export type OutputLimitField = 'max_tokens' | 'max_completion_tokens'
const LIMIT_NAMES: readonly OutputLimitField[] = ['max_tokens', 'max_completion_tokens']

export interface FieldSupport {
  /** The names of the output limit that the provider accepts, the preferred one first; null when they are not known. */
  outputLimits: readonly OutputLimitField[] | null
  /** Whether the provider accepts `usage: {include: …}`, with which OpenRouter's clients request the usage of a stream. */
  acceptsUsageOption: boolean
  /** Whether the provider accepts `stream_options`. If not, it is omitted. */
  acceptsStreamOptions: boolean
  /** Whether the provider enforces OpenRouter's `provider.max_price`. */
  enforcesMaxPrice: boolean
}

export function resolveFieldChanges(request: UpstreamRequest, traits: FieldSupport): FieldChanges {
  const { endpoint, body, maxPrice, isCountOnly = false } = request
  const { usage, provider } = body
  const hasUsageOption = isJsonObject(usage) && typeof usage.include === 'boolean' && !isTranslatableEndpoint(endpoint)
  return {
    ...(hasUsageOption && !traits.acceptsUsageOption && { usage: undefined }),
    ...('stream_options' in body && !traits.acceptsStreamOptions && { stream_options: undefined }),
    ...(endpoint === 'chat' && limitChanges(body, traits.outputLimits)),
    ...(maxPrice && traits.enforcesMaxPrice && !isCountOnly && { provider: withMaxPrice(provider, maxPrice) }),
  }
}

/** Renames the output limit if the provider does not accept the client's name for it. When the accepted names are not known, both are sent. */
function limitChanges(body: JsonObject, accepted: FieldSupport['outputLimits']): FieldChanges {
  const given = LIMIT_NAMES.filter(name => isPresent(body[name]))
  const [name] = given
  if (name === undefined || given.length > 1 || accepted?.includes(name)) return {}
  const other = accepted?.[0] ?? otherThan(name)
  return { [other]: body[name], ...(accepted !== null && { [name]: undefined }) }
}

function otherThan(name: OutputLimitField): OutputLimitField {
  return name === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
}

/** Returns the `provider` field with the price limits. The client's limits are kept where they are lower. */
function withMaxPrice(provider: unknown, maxPrice: MaxPrice): JsonObject {
  const options = isJsonObject(provider) ? provider : {}
  const requested = isJsonObject(options.max_price) ? options.max_price : {}
  const lower = (name: keyof MaxPrice) => {
    const price = isPresent(requested[name]) ? Number(requested[name]) : Number.NaN
    return price >= 0 && price < maxPrice[name] ? requested[name] : maxPrice[name]
  }
  const limits = { prompt: lower('prompt'), completion: lower('completion'), request: lower('request') }
  return { ...options, max_price: { ...requested, ...limits } }
}

/** Matches messages of providers that do not accept a field. */
const UNSUPPORTED_FIELD =
  /unsupported|not (?:supported|permitted|allowed)|un(?:known|recogni[sz]ed|expected)|extra|forbidden/i

/**
 * Returns the change for a request that was rejected because its output limit was sent under both names: it removes the name that the rejection
 * mentions, and the one that the proxy added if it mentions both. Returns null for any other rejection.
 */
export function resolveRejectedLimit(rejection: string, changes: FieldChanges): FieldChanges | null {
  const added = LIMIT_NAMES.find(name => isPresent(changes[name]))
  if (added === undefined || LIMIT_NAMES.some(name => name in changes && !isPresent(changes[name]))) return null
  const named = LIMIT_NAMES.filter(name => new RegExp(`\\b${name}\\b`).test(rejection))
  if (named.length === 0 || !UNSUPPORTED_FIELD.test(rejection)) return null
  return { [named.includes(added) ? added : otherThan(added)]: undefined }
}

/** Returns the text of a 400 or 422, whose body can then be read again; null for any other status. */
export async function readRejection(response: UpstreamResponse): Promise<string | null> {
  if (response.status !== 400 && response.status !== 422) return null
  const text = await new Response(response.body).text()
  response.body = new Blob([text]).stream()
  return text
}
