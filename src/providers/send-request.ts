/** Sends model requests and pass-through requests to a provider, with the provider's credential in place of the client's, and reads its list of models. */

import { asObjects, asString, isJsonObject, parseJson } from '../formats/json/canonical.ts'
import { callUpstream, type UpstreamCall } from './call-upstream.ts'
import { createRequestHeaders } from './forwarded-headers.ts'
import { type ByteReader, openReader, readAllBytes } from './read-bytes.ts'
import { isEventStream, type PassThroughRequest, type UpstreamRequest, type UpstreamResponse } from './upstream.ts'
import { brokenResponseError } from './upstream-failure.ts'
import type { VendorAddress } from './vendor-connection.ts'

/** The options of a provider for one project and one key. */
export interface ProviderOptions extends Pick<UpstreamCall, 'name' | 'limits' | 'probe'> {
  /** A vendor, or `aggregator`. */
  kind: string
  /** As in Provider. */
  isShared?: boolean
  /** As in Provider; none by default. */
  clientHeaders?: readonly string[]
  pricedAs: string
  /** The project whose requests the provider serves. */
  projectId: number
  /** The provider's name in messages. */
  title?: string
  /** The path of the provider's list of models; absent or null: it has none. */
  modelsPath?: string | null
  /** Path prefixes of the operations that the provider accepts; any path by default. */
  passThroughPaths?: readonly string[] | null
}

export interface UpstreamTarget
  extends Pick<ProviderOptions, 'name' | 'clientHeaders' | 'projectId' | 'limits' | 'probe'>,
    VendorAddress {}

export async function sendModelRequest(
  request: UpstreamRequest,
  body: string | Uint8Array,
  recipient: UpstreamTarget,
): Promise<UpstreamResponse> {
  const headers = writeHeaders(request, recipient)
  const { earlierCredentials, signal } = request
  const responseTimeoutMs = request.stream ? undefined : request.timeLimits?.responseMs
  const response = await callUpstream({ ...recipient, headers, body, earlierCredentials, signal, responseTimeoutMs })
  const isLabelled = !request.stream || response.status !== 200 || isEventStream(response)
  return isLabelled ? response : labelStream(response)
}

const OPENING_BRACKETS: ReadonlySet<number | undefined> = new Set(Buffer.from('{[<'))

/** Labels the response as an event stream unless its first byte opens a JSON value or a page. Some providers label streams as JSON or not at all. */
async function labelStream(response: UpstreamResponse): Promise<UpstreamResponse> {
  const reader = openReader(response.body)
  const first: Uint8Array[] = []
  let opening: number | undefined
  for (let isFinished = false; opening === undefined && !isFinished; ) {
    const { done, value } = await reader.read()
    isFinished = done
    if (value) first.push(value)
    opening = value?.find(byte => byte > SPACE)
  }
  if (opening !== undefined && !OPENING_BRACKETS.has(opening)) response.headers.set('content-type', 'text/event-stream')
  return { ...response, body: resume(first, reader) }
}

const SPACE = 0x20

/** Returns a stream of the parts that were read, followed by the rest of the body. */
function resume(read: Uint8Array[], reader: ByteReader): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const known = read.shift()
        const { done, value } = known ? { done: false, value: known } : await reader.read()
        if (done) controller.close()
        else controller.enqueue(value as Uint8Array)
      },
      cancel: reason => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

type PassThroughCall = Omit<PassThroughRequest, 'path' | 'hasSideEffects' | 'isDownload'> & { isDownload?: boolean }

/** Forwards a pass-through request. It keeps the client's Accept header, because the response may be a stream or another type than JSON. */
export function sendPassThrough(
  { method, body, headers: clientHeaders, isDownload, earlierCredentials, signal }: PassThroughCall,
  recipient: UpstreamTarget,
): Promise<UpstreamResponse> {
  const headers = writeHeaders({ headers: clientHeaders, stream: false }, recipient)
  headers.set('accept', clientHeaders.get('accept') ?? '*/*')
  if (body) headers.set('content-type', body.contentType)
  else headers.delete('content-type')
  const { limits } = recipient
  return callUpstream({
    ...recipient,
    method,
    headers,
    body: body?.bytes ?? null,
    earlierCredentials,
    signal,
    limits: isDownload ? { ...limits, maxResponseBytes: Number.POSITIVE_INFINITY } : limits,
  })
}

function writeHeaders(
  request: Pick<UpstreamRequest, 'headers' | 'stream'>,
  { clientHeaders = [], projectId, headers: targetHeaders }: UpstreamTarget,
): Headers {
  const headers = createRequestHeaders(request, clientHeaders, projectId)
  for (const [header, value] of Object.entries(targetHeaders)) headers.set(header, value)
  return headers
}

const LIST_TIME_LIMIT_MS = 30_000

/** Returns the names in the provider's own list of models. The list may be the body itself, or in its `data`, `models` or `result`. Throws a 502 for another body. */
export async function fetchModelNames(recipient: UpstreamTarget): Promise<string[]> {
  const signal = AbortSignal.timeout(LIST_TIME_LIMIT_MS)
  const request = { method: 'GET', body: null, headers: new Headers({ accept: 'application/json' }), signal } as const
  const { status, body } = await sendPassThrough(request, recipient)
  const text = new TextDecoder().decode(await readAllBytes(body, recipient.name))
  const parsed = status === 200 ? parseJson(text) : null
  const { data, models, result } = isJsonObject(parsed) ? parsed : { data: parsed }
  const list = [data, models, result].find(Array.isArray)
  if (!list) throw brokenResponseError(recipient.name, 'sent no list of models', status)
  return asObjects(list).flatMap(({ id, name }) => asString(id) || asString(name) || [])
}
