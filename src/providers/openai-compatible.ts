/** Any upstream that speaks OpenAI's wire format: the aggregator, OpenAI itself, Groq. */
import { refuse } from '../errors.ts'
import { copyInTurns } from '../event-loop/copy-in-turns.ts'
import { isTranslated } from '../formats/translation.ts'
import { hasInexactNumber } from '../json/canonical.ts'
import { callUpstream, type UpstreamCall, type UpstreamLimits } from './call-upstream.ts'
import type { ConnectionProbe } from './connection-probe.ts'
import { writeRequestHeaders } from './forwarded-headers.ts'
import { isLong, type LongRequest } from './long-body.ts'
import type {
  Endpoint,
  PassedRequest,
  Provider,
  ProviderKind,
  StoredRequest,
  UpstreamAnswer,
  UpstreamRequest,
} from './upstream.ts'

export interface OpenAiCompatibleOptions {
  name: string
  kind: ProviderKind
  pricedAs: string
  /** The project whose requests it answers. */
  projectId: number
  /** Ends before `/chat/completions`. */
  baseUrl: string
  apiKey: string
  limits: UpstreamLimits
  probe: ConnectionProbe
  /** Set when the vendor answers chat requests only: the vendor's name for messages. */
  chatAloneOf?: string
  /** Whether responses can be fetched later by id. */
  keepsAnswers?: boolean
  /** Path prefixes of operations that it accepts; any by default. */
  passes?: readonly string[]
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
  const { name, kind, pricedAs, projectId, baseUrl, apiKey, limits, probe, chatAloneOf, keepsAnswers, passes } = options

  /** With the provider's own key. */
  function call({ path, headers, isDownload = false, ...sent }: Sent): Promise<UpstreamAnswer> {
    headers.set('authorization', `Bearer ${apiKey}`)
    return callUpstream({
      ...sent,
      provider: name,
      url: `${baseUrl}${path}`,
      headers,
      secret: apiKey,
      limits: isDownload ? { ...limits, maxAnswerBytes: Number.POSITIVE_INFINITY } : limits,
      probe,
    })
  }

  /** Sends a request unchanged. The client's Accept header stays, because the response may be a stream, or no JSON. */
  function pass({ path, method, body, headers: given, isDownload = false, signal }: Passed): Promise<UpstreamAnswer> {
    const headers = writeRequestHeaders({ headers: given, stream: false }, kind, projectId)
    headers.set('accept', given.get('accept') ?? '*/*')
    if (body) headers.set('content-type', body.contentType)
    else headers.delete('content-type')
    return call({ path, method, headers, body: body?.bytes ?? null, isDownload, signal })
  }

  return {
    name,
    kind,
    pricedAs,
    async pass(request) {
      const { path } = request
      if (passes?.every(known => !path.startsWith(known)))
        throw refuse('pathUnsupported', { vendor: chatAloneOf ?? name, path })
      return pass(request)
    },
    ...(keepsAnswers && {
      askStored: ({ query, path, ...asked }: StoredRequest) => pass({ ...asked, path: path + query, body: null }),
    }),
    async ask(request) {
      const { endpoint, signal } = request
      if (chatAloneOf !== undefined && endpoint !== 'chat')
        throw refuse('endpointUnsupported', { vendor: chatAloneOf, endpoint })
      const path = `${PATHS[endpoint]}${request.countsAlone ? COUNT_PATHS[endpoint] : ''}`
      const headers = writeRequestHeaders(request, kind, projectId)
      return call({ path, headers, body: await writeBody(request), signal })
    },
  }
}

type Sent = Pick<UpstreamCall, 'method' | 'headers' | 'body' | 'signal'> & { path: string; isDownload?: boolean }
type Passed = Omit<PassedRequest, 'leavesTrace' | 'isDownload'> & { isDownload?: boolean }

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
