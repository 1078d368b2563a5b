/** Any upstream that speaks OpenAI's wire format: the aggregator, OpenAI itself, vendors that have its chat. */
import { refuse } from '../errors/errors.ts'
import { copyInTurns } from '../event-loop/copy-in-turns.ts'
import { isTranslated } from '../formats/format-of.ts'
import { hasInexactNumber } from '../formats/json/canonical.ts'
import { Credentials } from './credentials/credentials.ts'
import { forwardedHeaders } from './forwarded-headers.ts'
import { isLong, type LongRequest } from './long-body.ts'
import { type ProviderOptions, sendAsked, sendPassed } from './send-passed.ts'
import type { Endpoint, Provider, RealtimeAsked, StoredRequest, UpstreamRequest } from './upstream.ts'
import { changesFor, type FieldTraits, readRejection, withFields, withoutRejectedLimit } from './vendor-fields.ts'

/** The base address ends before `/chat/completions`. */
export interface OpenAiCompatibleOptions extends Omit<ProviderOptions, 'apiKey'>, Partial<FieldTraits> {
  /** Null for one that needs none. */
  apiKey: string | null
  /** Those that it has; any by default. */
  endpoints?: readonly Endpoint[]
  /** Whether it is OpenAI itself: it keeps responses, and there is a Realtime API. */
  isOpenAi?: boolean
  /** Whether responses can be fetched later by id, those at least that it makes in the background. */
  keepsResponses?: boolean
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
  const { name, kind, pricedAs, projectId, baseUrl, apiKey, title = name, endpoints, isOpenAi, passes } = options
  const { keepsResponses = isOpenAi, outputLimits = null, limitsPrices = false } = options
  const { takesUsageWish = kind === 'aggregator' } = options
  const own: Record<string, string> = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }
  const credentials = new Credentials(apiKey === null ? [] : [apiKey])
  const recipient = (path: string) => ({ ...options, url: `${baseUrl}${path}`, headers: own, credentials })

  return {
    name,
    kind,
    pricedAs,
    limitsPrices,
    async pass(request) {
      const { path } = request
      if (passes?.every(known => !path.startsWith(known))) throw refuse('pathUnsupported', { vendor: title, path })
      return sendPassed(request, recipient(path))
    },
    ...(keepsResponses && {
      askStored: ({ query, path, ...asked }: StoredRequest) =>
        sendPassed({ ...asked, body: null }, recipient(path + query)),
    }),
    ...(isOpenAi && {
      realtime: async ({ model, isTranscription, headers }: RealtimeAsked) => ({
        url: `${baseUrl.replace(/^http/, 'ws')}/realtime?${new URLSearchParams({
          ...(model !== null && { model }),
          ...(isTranscription && { intent: 'transcription' }),
        })}`,
        headers: { ...Object.fromEntries(forwardedHeaders(headers, kind, projectId)), ...own },
        credentials,
      }),
    }),
    async ask(request) {
      const { endpoint, onlyCounts } = request
      if (endpoints?.includes(endpoint) === false) throw refuse('endpointUnsupported', { vendor: title, endpoint })
      const path = `${PATHS[endpoint]}${onlyCounts ? COUNT_PATHS[endpoint] : ''}`
      const send = async (asked: UpstreamRequest) => sendAsked(asked, await writeBody(asked), recipient(path))
      const changes = changesFor(request, { outputLimits, takesUsageWish, limitsPrices })
      const sent = await withFields(request, changes)
      const answer = await send(sent)
      const rejection = outputLimits === null ? await readRejection(answer) : null
      const again = rejection === null ? null : withoutRejectedLimit(rejection, changes)
      return again === null ? answer : send(await withFields(sent, again))
    },
  }
}

/** The client's body, with usage turned on for streams of completions; other operations always report it. */
async function writeBody(request: UpstreamRequest): Promise<string | Uint8Array> {
  if (request.stream && !isTranslated(request.endpoint))
    return isLong(request) ? askForLongUsage(request) : askForUsage(request)
  return request.bodyBytes ?? request.bodyText
}

const USAGE_WANTED = ',"stream_options":{"include_usage":true}}'
const CLOSING_BRACE = 0x7d

/** The same for bytes. A body with `stream_options` stays unchanged: an estimated cost is better than parsing it. */
async function askForLongUsage({ body, bodyBytes }: LongRequest): Promise<Uint8Array> {
  if ('stream_options' in body) return bodyBytes
  const beforeEnd = bodyBytes.subarray(0, bodyBytes.lastIndexOf(CLOSING_BRACE))
  return copyInTurns(beforeEnd, { behind: new TextEncoder().encode(USAGE_WANTED) })
}

/** Turns `stream_options.include_usage` on: only then does the upstream report a stream's usage. */
export function askForUsage({ bodyText, body }: Pick<UpstreamRequest, 'bodyText' | 'body'>): string {
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
