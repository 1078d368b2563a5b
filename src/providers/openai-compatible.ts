/** Any upstream that speaks OpenAI's wire format: the aggregator, OpenAI itself, vendors that have its chat. */
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

/** The base address ends before `/chat/completions`. */
export interface OpenAiCompatibleOptions extends Omit<ProviderOptions, 'apiKey'>, Partial<FieldSupport> {
  /** Null for one that needs none. */
  apiKey: string | null
  /** Those that it has; any by default. */
  endpoints?: readonly Endpoint[]
  /** Whether it is OpenAI itself: it keeps responses, and there is a Realtime API. */
  isOpenAi?: boolean
  /** Whether responses can be fetched later by id, those at least that it makes in the background. */
  storesResponses?: boolean
}

const PATHS: Record<Endpoint, string> = {
  responses: '/responses',
  messages: '/messages',
  chat: '/chat/completions',
  completions: '/completions',
  embeddings: '/embeddings',
}

/** The path that counts tokens, appended to an operation's path. */
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
  const own: Record<string, string> = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }
  const credentials = new Credentials(apiKey === null ? [] : [apiKey])
  const recipient = (path: string) => ({ ...options, url: `${baseUrl}${path}`, headers: own, credentials })

  return {
    name,
    kind,
    pricedAs,
    enforcesMaxPrice,
    async passThrough(request) {
      const { path } = request
      if (passThroughPaths?.every(known => !path.startsWith(known)))
        throw createError('pathUnsupported', { vendor: title, path })
      return sendPassThrough(request, recipient(path))
    },
    ...(storesResponses && {
      sendStored: ({ query, path, ...asked }: StorageRequest) =>
        sendPassThrough({ ...asked, body: null }, recipient(path + query)),
    }),
    ...(isOpenAi && {
      resolveRealtime: async ({ model, isTranscription, headers }: RealtimeSessionRequest) => ({
        url: `${baseUrl.replace(/^http/, 'ws')}/realtime?${new URLSearchParams({
          ...(model !== null && { model }),
          ...(isTranscription && { intent: 'transcription' }),
        })}`,
        headers: { ...Object.fromEntries(pickForwardedHeaders(headers, kind, projectId)), ...own },
        credentials,
      }),
    }),
    async send(request) {
      const { endpoint, isCountOnly } = request
      if (endpoints?.includes(endpoint) === false) throw createError('endpointUnsupported', { vendor: title, endpoint })
      const path = `${PATHS[endpoint]}${isCountOnly ? COUNT_PATHS[endpoint] : ''}`
      const send = async (asked: UpstreamRequest) => sendModelRequest(asked, await writeBody(asked), recipient(path))
      const changes = resolveFieldChanges(request, {
        outputLimits,
        acceptsUsageOption,
        enforcesMaxPrice,
      })
      const sent = await applyFieldChanges(request, changes)
      const answer = await send(sent)
      const rejection = outputLimits === null ? await readRejection(answer) : null
      const again = rejection === null ? null : resolveRejectedLimit(rejection, changes)
      return again === null ? answer : send(await applyFieldChanges(sent, again))
    },
  }
}

/** The client's body, with usage turned on for streams of completions; other operations always report it. */
async function writeBody(request: UpstreamRequest): Promise<string | Uint8Array> {
  if (request.stream && !isTranslatableEndpoint(request.endpoint))
    return isLongRequest(request) ? askForLongUsage(request) : requestStreamUsage(request)
  return request.bodyBytes ?? request.bodyText
}

const USAGE_WANTED = ',"stream_options":{"include_usage":true}}'
const CLOSING_BRACE = 0x7d

/** The same for bytes. A body with `stream_options` stays unchanged: an estimated cost is better than parsing it. */
async function askForLongUsage({ body, bodyBytes }: LongRequest): Promise<Uint8Array> {
  if ('stream_options' in body) return bodyBytes
  const beforeEnd = bodyBytes.subarray(0, bodyBytes.lastIndexOf(CLOSING_BRACE))
  return copyInChunks(beforeEnd, { behind: new TextEncoder().encode(USAGE_WANTED) })
}

/** Turns `stream_options.include_usage` on: only then does the upstream report a stream's usage. */
export function requestStreamUsage({ bodyText, body }: Pick<UpstreamRequest, 'bodyText' | 'body'>): string {
  if (!('stream_options' in body)) {
    // Inserted as text, so that everything else stays as the client wrote it, down to the last digit.
    return `${bodyText.trimEnd().slice(0, -1)}${USAGE_WANTED}`
  }
  const asked = body.stream_options
  const given = typeof asked === 'object' && asked !== null ? asked : {}
  if ('include_usage' in given && given.include_usage === true) return bodyText
  // Serializing would round such a number; an estimated cost is better than that.
  if (hasInexactNumber(bodyText)) return bodyText
  return JSON.stringify({ ...body, stream_options: { ...given, include_usage: true } })
}
