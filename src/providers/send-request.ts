/** Sends requests to a provider with its own credential in place of the client's: those that a model is asked, and those that are passed through. */
import { callUpstream, type UpstreamCall } from './call-upstream.ts'
import { createRequestHeaders } from './forwarded-headers.ts'
import {
  isEventStream,
  type PassThroughRequest,
  type ProviderKind,
  type UpstreamRequest,
  type UpstreamResponse,
} from './upstream.ts'

/** How a project reaches a provider with one of its keys. */
export interface ProviderOptions extends Pick<UpstreamCall, 'name' | 'limits' | 'probe'> {
  kind: ProviderKind
  pricedAs: string
  /** The project whose requests it answers. */
  projectId: number
  baseUrl: string
  apiKey: string
  /** Its name in messages. */
  title?: string
  /** Path prefixes of operations that it accepts; any by default. */
  passThroughPaths?: readonly string[] | null
}

export interface UpstreamTarget extends Pick<ProviderOptions, 'name' | 'kind' | 'projectId' | 'limits' | 'probe'> {
  url: string
  /** Headers that replace the client's. */
  headers: Record<string, string>
  credentials: UpstreamCall['credentials']
}

export async function sendModelRequest(
  request: UpstreamRequest,
  body: string | Uint8Array,
  recipient: UpstreamTarget,
): Promise<UpstreamResponse> {
  const headers = writeHeaders(request, recipient)
  const { earlierCredentials, signal } = request
  const answer = await callUpstream({ ...recipient, headers, body, earlierCredentials, signal })
  const isLabelled = !request.stream || answer.status !== 200 || isEventStream(answer)
  return isLabelled ? answer : labelStream(answer)
}

const OPENING_BRACKETS: ReadonlySet<number | undefined> = new Set(Buffer.from('{[<'))

/** Some providers label a stream as JSON, or not at all: its first byte tells it from an object, a list or a page. */
async function labelStream(answer: UpstreamResponse): Promise<UpstreamResponse> {
  const reader = openReader(answer.body)
  const first: Uint8Array[] = []
  let opening: number | undefined
  for (let isOver = false; opening === undefined && !isOver; ) {
    const { done, value } = await reader.read()
    isOver = done
    if (value) first.push(value)
    opening = value?.find(byte => byte > SPACE)
  }
  if (opening !== undefined && !OPENING_BRACKETS.has(opening)) answer.headers.set('content-type', 'text/event-stream')
  return { ...answer, body: resume(first, reader) }
}

const SPACE = 0x20

function openReader(body: ReadableStream<Uint8Array>) {
  return body.getReader()
}

/** What was read, and then the rest. */
function resume(read: Uint8Array[], reader: ReturnType<typeof openReader>): ReadableStream<Uint8Array> {
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

type Sent = Omit<PassThroughRequest, 'path' | 'hasSideEffects' | 'isDownload'> & { isDownload?: boolean }

/** The client's Accept header stays, because the response may be a stream, or no JSON. */
export function sendPassThrough(
  { method, body, headers: given, isDownload, earlierCredentials, signal }: Sent,
  recipient: UpstreamTarget,
): Promise<UpstreamResponse> {
  const headers = writeHeaders({ headers: given, stream: false }, recipient)
  headers.set('accept', given.get('accept') ?? '*/*')
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
  { kind, projectId, headers: own }: UpstreamTarget,
): Headers {
  const headers = createRequestHeaders(request, kind, projectId)
  for (const [header, value] of Object.entries(own)) headers.set(header, value)
  return headers
}
