/** Creates a provider for an upstream with OpenAI's wire format: the aggregator, OpenAI itself, or a vendor with an OpenAI-compatible API. */
import { createError } from '../errors/errors.ts'
import { copyInChunks } from '../event-loop/copy-in-chunks.ts'
import { isTranslatableEndpoint } from '../formats/endpoint-formats.ts'
import { hasInexactNumber } from '../formats/json/canonical.ts'
import { Credentials } from './credentials/credentials.ts'
import { pickForwardedHeaders } from './forwarded-headers.ts'
import { isLongRequest, type LongRequest } from './long-body.ts'
import { type ProviderOptions, sendModelRequest, sendPassThrough } from './send-request.ts'
import type { Endpoint, Provider, RealtimeSessionRequest, StorageRequest, UpstreamRequest } from './upstream.ts'
import {
  applyFieldChanges,
  type FieldSupport,
  readRejection,
  resolveFieldChanges,
  resolveRejectedLimit,
} from './vendor-fields.ts'

/** `baseUrl` ends before `/chat/completions`. */
export interface OpenAiCompatibleOptions extends Omit<ProviderOptions, 'apiKey'>, Partial<FieldSupport> {
  /** The key; null when the upstream needs none. */
  apiKey: string | null
  /** The endpoints that the upstream supports; all by default. */
  endpoints?: readonly Endpoint[]
  /** Whether the upstream is OpenAI itself, which stores responses and has a Realtime API. */
  isOpenAi?: boolean
  /** Whether responses, at least those created in the background, can be fetched later by id. */
  storesResponses?: boolean
}

const PATHS: Record<Endpoint, string> = {
  responses: '/responses',
  messages: '/messages',
  chat: '/chat/completions',
  completions: '/completions',
  embeddings: '/embeddings',
}

/** The suffix of an endpoint's path that counts tokens. */
const COUNT_PATHS: Partial<Record<Endpoint, string>> = { responses: '/input_tokens', messages: '/count_tokens' }

export function createOpenAiCompatibleProvider(options: OpenAiCompatibleOptions): Provider {
  const {
    name,
    kind,
    pricedAs,
    projectId,
    baseUrl,
    apiKey,
    title = name,
    endpoints,
    isOpenAi,
    passThroughPaths,
  } = options
  const { storesResponses = isOpenAi, outputLimits = null, enforcesMaxPrice = false } = options
  const { acceptsUsageOption = kind === 'aggregator' } = options
  const authorization: Record<string, string> = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }
  const credentials = new Credentials(apiKey === null ? [] : [apiKey])
  const recipient = (path: string) => ({ ...options, url: `${baseUrl}${path}`, headers: authorization, credentials })

  return {
    name,
    kind,
    pricedAs,
    enforcesMaxPrice,
    async passThrough(request) {
      const { path } = request
      if (passThroughPaths?.every(prefix => !path.startsWith(prefix)))
        throw createError('pathUnsupported', { vendor: title, path })
      return sendPassThrough(request, recipient(path))
    },
    ...(storesResponses && {
      sendStored: ({ query, path, ...request }: StorageRequest) =>
        sendPassThrough({ ...request, body: null }, recipient(path + query)),
    }),
    ...(isOpenAi && {
      resolveRealtime: async ({ model, isTranscription, headers }: RealtimeSessionRequest) => ({
        url: `${baseUrl.replace(/^http/, 'ws')}/realtime?${new URLSearchParams({
          ...(model !== null && { model }),
          ...(isTranscription && { intent: 'transcription' }),
        })}`,
        headers: { ...Object.fromEntries(pickForwardedHeaders(headers, kind, projectId)), ...authorization },
        credentials,
      }),
    }),
    async send(request) {
      const { endpoint, isCountOnly } = request
      if (endpoints?.includes(endpoint) === false) throw createError('endpointUnsupported', { vendor: title, endpoint })
      const path = `${PATHS[endpoint]}${isCountOnly ? COUNT_PATHS[endpoint] : ''}`
      const send = async (sent: UpstreamRequest) => sendModelRequest(sent, await writeBody(sent), recipient(path))
      const changes = resolveFieldChanges(request, {
        outputLimits,
        acceptsUsageOption,
        enforcesMaxPrice,
      })
      const changed = await applyFieldChanges(request, changes)
      const response = await send(changed)
      const rejection = outputLimits === null ? await readRejection(response) : null
      const furtherChanges = rejection === null ? null : resolveRejectedLimit(rejection, changes)
      return furtherChanges === null ? response : send(await applyFieldChanges(changed, furtherChanges))
    },
  }
}

/** Returns the client's body, and turns usage on for streams of completions. Other endpoints always report usage. */
async function writeBody(request: UpstreamRequest): Promise<string | Uint8Array> {
  if (request.stream && !isTranslatableEndpoint(request.endpoint))
    return isLongRequest(request) ? requestStreamUsageInBytes(request) : requestStreamUsage(request)
  return request.bodyBytes ?? request.bodyText
}

const USAGE_OPTION = ',"stream_options":{"include_usage":true}}'
const CLOSING_BRACE = 0x7d

/**
 * Does the same as `requestStreamUsage` for a long body. A body with `stream_options` stays unchanged: an estimated cost is better than
 * parsing it.
 */
async function requestStreamUsageInBytes({ body, bodyBytes }: LongRequest): Promise<Uint8Array> {
  if ('stream_options' in body) return bodyBytes
  const beforeEnd = bodyBytes.subarray(0, bodyBytes.lastIndexOf(CLOSING_BRACE))
  return copyInChunks(beforeEnd, { behind: new TextEncoder().encode(USAGE_OPTION) })
}

/** Returns the body's text with `stream_options.include_usage` turned on, without which the upstream reports no usage of a stream. */
export function requestStreamUsage({ bodyText, body }: Pick<UpstreamRequest, 'bodyText' | 'body'>): string {
  if (!('stream_options' in body)) {
    // The option is inserted as text, so that everything else stays exactly as the client wrote it.
    return `${bodyText.trimEnd().slice(0, -1)}${USAGE_OPTION}`
  }
  const value = body.stream_options
  const options = typeof value === 'object' && value !== null ? value : {}
  if ('include_usage' in options && options.include_usage === true) return bodyText
  // Serializing would round such a number, and an estimated cost is better than a changed request.
  if (hasInexactNumber(bodyText)) return bodyText
  return JSON.stringify({ ...body, stream_options: { ...options, include_usage: true } })
}
