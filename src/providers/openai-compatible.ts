/** Creates a provider for an upstream with OpenAI's wire format: the aggregator, OpenAI itself, or a vendor with an OpenAI-compatible API. */
import { createError } from '../errors/errors.ts'
import { copyInChunks } from '../event-loop/chunks.ts'
import type { Endpoint } from '../formats/endpoint.ts'
import { isTranslatableEndpoint } from '../formats/endpoint-formats.ts'
import { asString, hasInexactNumber } from '../formats/json/canonical.ts'
import { pickForwardedHeaders } from './forwarded-headers.ts'
import { applyFieldChanges, isLongRequest, type LongRequest } from './long-body.ts'
import { fetchModelNames, type ProviderOptions, sendModelRequest, sendPassThrough } from './send-request.ts'
import type { Provider, RealtimeSessionRequest, StorageRequest, UpstreamRequest } from './upstream.ts'
import { createAddressWriter, type VendorConnection } from './vendor-connection.ts'
import { type FieldSupport, readRejection, resolveFieldChanges, resolveRejectedLimit } from './vendor-fields.ts'

/** `baseUrl` ends before `/chat/completions`. */
export interface OpenAiCompatibleOptions extends ProviderOptions, VendorConnection, Partial<FieldSupport> {
  /** The endpoints that the upstream supports; all by default. */
  endpoints?: readonly Endpoint[]
  /** Whether the upstream is OpenAI itself, which stores responses and has a Realtime API. */
  isOpenAi?: boolean
  /** Whether responses, at least those created in the background, can be fetched later by id. */
  storesResponses?: boolean
}

const PATHS: Record<Exclude<Endpoint, 'generate_content'>, string> = {
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
    isShared = false,
    clientHeaders = [],
    pricedAs,
    projectId,
    title = name,
    endpoints,
    isOpenAi,
  } = options
  const { passThroughPaths, modelsPath } = options
  const { storesResponses = isOpenAi, outputLimits = null, enforcesMaxPrice = false } = options
  const { acceptsUsageOption = kind === 'aggregator', acceptsStreamOptions = true } = options
  const writeAddress = createAddressWriter(options)
  const recipient = (path: string, model?: unknown) => ({ ...options, ...writeAddress(path, asString(model)) })

  return {
    name,
    kind,
    isShared,
    clientHeaders,
    pricedAs,
    enforcesMaxPrice,
    async passThrough(request) {
      const { path } = request
      if (passThroughPaths?.every(prefix => !path.startsWith(prefix)))
        throw createError('pathUnsupported', { vendor: title, path })
      return sendPassThrough(request, recipient(path, request.body?.fields.model))
    },
    ...(storesResponses && {
      sendStored: ({ query, path, ...request }: StorageRequest) =>
        sendPassThrough({ ...request, body: null }, recipient(path + query)),
    }),
    ...(modelsPath && { listModels: () => fetchModelNames(recipient(modelsPath)) }),
    ...(isOpenAi && {
      resolveRealtime: async ({ model, isTranscription, headers: given }: RealtimeSessionRequest) => {
        const query = new URLSearchParams({
          ...(model !== null && { model }),
          ...(isTranscription && { intent: 'transcription' }),
        })
        const { url, headers, credentials } = writeAddress(`/realtime?${query}`)
        const forwarded = Object.fromEntries(pickForwardedHeaders(given, clientHeaders, projectId))
        return { url: url.replace(/^http/, 'ws'), headers: { ...forwarded, ...headers }, credentials }
      },
    }),
    async send(request) {
      const { endpoint, isCountOnly } = request
      if (endpoint === 'generate_content' || endpoints?.includes(endpoint) === false)
        throw createError('endpointUnsupported', { vendor: title, endpoint })
      const path = `${PATHS[endpoint]}${isCountOnly ? COUNT_PATHS[endpoint] : ''}`
      const send = async (sent: UpstreamRequest) =>
        sendModelRequest(sent, await writeBody(sent, acceptsStreamOptions), recipient(path, sent.body.model))
      const support = { outputLimits, acceptsUsageOption, acceptsStreamOptions, enforcesMaxPrice }
      const changes = resolveFieldChanges(request, support)
      const changed = await applyFieldChanges(request, changes)
      const response = await send(changed)
      const rejection = outputLimits === null ? await readRejection(response) : null
      const furtherChanges = rejection === null ? null : resolveRejectedLimit(rejection, changes)
      return furtherChanges === null ? response : send(await applyFieldChanges(changed, furtherChanges))
    },
  }
}

/** Returns the client's body, and turns usage on for streams of completions. Other endpoints always report usage. */
async function writeBody(request: UpstreamRequest, acceptsStreamOptions: boolean): Promise<string | Uint8Array> {
  if (request.stream && acceptsStreamOptions && !isTranslatableEndpoint(request.endpoint))
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
