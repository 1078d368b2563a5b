/** A local HTTP server that acts as Anthropic's API and rejects the same requests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createRecording, type RecordedRequest, type Recording } from '../fake-provider/recording.ts'
import { JSON_HEADERS, sendBody } from '../fake-provider/send.ts'
import { invalid, writeError } from './api-error.ts'
import { checkRequest } from './check-request.ts'
import { createFakeFiles, isFilePath } from './files.ts'
import { createFakeMessageBatches, isBatchPath } from './message-batches.ts'
import { normalizeContent } from './normalize-content.ts'
import { respond } from './respond.ts'
import type { JsonObject, Scenario } from './scenario.ts'

export interface FakeAnthropicOptions {
  /** By default a free port. */
  port?: number
  /** Requests with another key get a 401. By default each key is valid. */
  apiKey?: string
  /** By default true; false only counts requests. */
  keepsRequests?: boolean
}

/** Returns the scenario of a request; undefined for the default response. */
type Script = (request: RecordedRequest) => Scenario | undefined

export interface FakeAnthropic {
  /** Without `/v1`, like the vendor's base URL. */
  baseUrl: string
  requests: RecordedRequest[]
  counts: Recording['counts']
  /** Applies to all later valid requests. */
  script(next: Scenario | Script): void
  /** Applies to the next valid requests, one scenario each, before `script`. */
  scriptOnce(...scenarios: Scenario[]): void
  /** Clears scripts and recorded requests. Connections stay open. */
  reset(): void
  stop(): Promise<void>
}

/** Starts the server on 127.0.0.1. */
export async function startFakeAnthropic(options: FakeAnthropicOptions = {}): Promise<FakeAnthropic> {
  const recording = createRecording(options.keepsRequests ?? true)
  const sockets = new Set<Socket>()
  const once: Scenario[] = []
  let script: Script = () => undefined
  let serial = 0
  const batches = createFakeMessageBatches(() => baseUrl())
  const files = createFakeFiles(options.apiKey)

  async function answer(message: IncomingMessage, response: ServerResponse, bytes: Buffer): Promise<void> {
    const request = recordRequest(message, bytes)
    recording.add(request)
    response.once('close', () => recording.end(request, response.writableFinished ? 'answered' : 'aborted'))
    if (request.path === '/v1/messages/count_tokens')
      return sendBody(response, 200, JSON_HEADERS, '{"input_tokens":42}')
    if (isBatchPath(request.path) && once.length === 0) return answerBatches(request, response)
    if (isFilePath(request.path) && once.length === 0) return answerFiles(request, response)
    const body = normalizeContent(request.body)
    const error =
      isBatchPath(request.path) || isFilePath(request.path) ? null : checkRequest({ ...request, body }, options.apiKey)
    const scenario: Scenario = error
      ? { kind: 'error', ...error }
      : (once.shift() ?? script(request) ?? { kind: 'answer' })
    const onCut = () => recording.end(request, 'cut')
    await respond({ request: body as JsonObject, recorded: request, response, serial: ++serial, onCut }, scenario)
  }

  function answerBatches(request: RecordedRequest, response: ServerResponse): void {
    const answered = batches.answer(request)
    const [status, body] =
      typeof answered === 'string'
        ? [200, answered]
        : [answered.status, JSON.stringify(writeError(answered, 'req_fake'))]
    sendBody(response, status, JSON_HEADERS, body)
  }

  async function answerFiles(request: RecordedRequest, response: ServerResponse): Promise<void> {
    const answered = await files.answer(request)
    if ('type' in answered && 'message' in answered)
      return sendBody(response, answered.status, JSON_HEADERS, JSON.stringify(writeError(answered, 'req_fake')))
    sendBody(response, 200, answered.headers, answered.body)
  }

  const server = createServer((message, response) => {
    const parts: Buffer[] = []
    message.on('data', (part: Buffer) => parts.push(part))
    message.on('end', () => {
      // A field has a type from which no response can be built. Anthropic rejects such a request.
      answer(message, response, Buffer.concat(parts)).catch(() => {
        if (response.headersSent) return response.destroy()
        const error = writeError(invalid('Input should be a valid value'), 'req_fake')
        return sendBody(response, 400, JSON_HEADERS, JSON.stringify(error))
      })
    })
  })
  // Longer than any test, so that a client's pooled connection stays valid.
  server.keepAliveTimeout = 120_000
  server.on('connection', socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const baseUrl = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    baseUrl: baseUrl(),
    requests: recording.requests,
    counts: recording.counts,
    script(next) {
      script = typeof next === 'function' ? next : () => next
    },
    scriptOnce(...scenarios) {
      once.push(...scenarios)
    },
    reset() {
      once.length = 0
      script = () => undefined
      recording.reset()
    },
    stop() {
      for (const socket of sockets) socket.destroy()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
}

function recordRequest(message: IncomingMessage, bytes: Buffer): RecordedRequest {
  const bodyText = bytes.toString()
  return {
    method: message.method ?? '',
    path: (message.url ?? '').split('?')[0] ?? '',
    query: (message.url ?? '').split('?')[1] ?? '',
    headers: message.headers as Record<string, string>,
    bodyText,
    bytes: new Uint8Array(bytes),
    body: parseJson(bodyText),
    receivedAtMs: performance.now(),
    abortedAtMs: null,
    isAnswered: false,
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
