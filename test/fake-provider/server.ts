/** A local HTTP server that acts as a paid OpenAI-compatible provider. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { checkToolOrder } from './check-tool-order.ts'
import { createRecording, type RecordedRequest, type Recording } from './recording.ts'
import { respond } from './respond.ts'
import type { Flavour, Scenario } from './scenario.ts'
import { createFakeObjects } from './stored-objects.ts'

export interface FakeProviderOptions {
  /** By default `openai`. */
  flavour?: Flavour
  /** By default a free port. */
  port?: number
  /** Requests with another key get a 401. By default each key is valid, and so is a request without one. */
  apiKey?: string
  /** By default true; false only counts requests. */
  keepsRequests?: boolean
  /** Rejects requests before any script, also those for the list of models. By default none. */
  reject?: (request: RecordedRequest) => Scenario | null
}

/** Returns the scenario of a request; undefined for the default response. A promise delays the response until it resolves. */
export type Script = (request: RecordedRequest) => Scenario | undefined | Promise<Scenario | undefined>

export interface FakeProvider {
  /** Ends in `/v1`, without a trailing slash. */
  baseUrl: string
  requests: RecordedRequest[]
  counts: Recording['counts']
  /** The number of currently open connections. */
  readonly openConnections: number
  /** Applies to all later requests. */
  script(next: Scenario | Script): void
  /** Applies to the next requests, one scenario each, before `script`. */
  scriptOnce(...scenarios: Scenario[]): void
  /** Clears scripts and recorded requests. Connections stay open. */
  reset(): void
  stop(): Promise<void>
}

/** Starts the server on 127.0.0.1. */
export async function startFakeProvider(options: FakeProviderOptions = {}): Promise<FakeProvider> {
  const recording = createRecording(options.keepsRequests ?? true)
  const sockets = new Set<Socket>()
  const once: Scenario[] = []
  const kept = createFakeObjects(options.flavour ?? 'openai')
  let script: Script = () => undefined
  let serial = 0

  async function chooseScenario(request: RecordedRequest): Promise<Scenario> {
    if (options.apiKey !== undefined && request.headers.authorization !== `Bearer ${options.apiKey}`) {
      return { kind: 'error', status: 401 }
    }
    return checkToolOrder(request) ?? once.shift() ?? (await script(request)) ?? { kind: 'answer' }
  }

  async function answer(message: IncomingMessage, response: ServerResponse, bytes: Buffer): Promise<void> {
    const request = recordRequest(message, bytes)
    const rejection = options.reject?.(request) ?? null
    if (isList(request) && rejection === null) {
      const listing = { request, response, flavour: options.flavour ?? 'openai', serial: ++serial, onCut() {}, kept }
      return respond(listing, { kind: 'answer' })
    }
    recording.add(request)
    response.once('close', () => recording.end(request, response.writableFinished ? 'answered' : 'aborted'))
    const flavour = options.flavour ?? 'openai'
    const onCut = () => recording.end(request, 'cut')
    const exchange = { request, response, flavour, serial: ++serial, onCut, kept }
    await respond(exchange, rejection ?? (await chooseScenario(request))).catch(error => {
      // A field has a type from which no response can be built. Vendors reject such a request.
      if (response.headersSent || !(error instanceof TypeError || error instanceof RangeError)) throw error
      return respond(exchange, { kind: 'error', status: 400 })
    })
  }

  const fakeProvider: Omit<FakeProvider, 'baseUrl'> = {
    requests: recording.requests,
    counts: recording.counts,
    get openConnections() {
      return sockets.size
    },
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

  const server = createServer((message, response) => {
    readBody(message, bytes => {
      // A script can throw on a request that it does not expect.
      if (!control(fakeProvider, message, response, bytes.toString()))
        answer(message, response, bytes).catch(() => response.destroy())
    })
  })
  // Longer than any test, so that a client's pooled connection stays valid.
  server.keepAliveTimeout = 120_000
  server.on('connection', socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return Object.assign(fakeProvider, { baseUrl: `http://127.0.0.1:${port}/v1` })
}

function readBody(message: IncomingMessage, onEnd: (bytes: Buffer) => void): void {
  const parts: Buffer[] = []
  message.on('data', (part: Buffer) => parts.push(part))
  message.on('end', () => onEnd(Buffer.concat(parts)))
}

function recordRequest(message: IncomingMessage, bytes: Buffer): RecordedRequest {
  const bodyText = bytes.toString()
  return {
    method: message.method ?? '',
    path: (message.url ?? '').split('?')[0] ?? '',
    query: (message.url ?? '').split('?')[1] ?? '',
    headers: message.headers as Record<string, string>,
    bodyText,
    bytes,
    body: parseJson(bodyText),
    receivedAtMs: performance.now(),
    abortedAtMs: null,
    isAnswered: false,
  }
}

/** The proxy itself reads the list of models, so scripts and counts exclude it. */
function isList({ method, path }: RecordedRequest): boolean {
  return method === 'GET' && path.endsWith('/models')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Requests of other processes to the server itself: `GET /__counts`, `PUT /__script` with a scenario, `DELETE /__script`. */
function control(
  fakeProvider: Omit<FakeProvider, 'baseUrl'>,
  message: IncomingMessage,
  response: ServerResponse,
  bodyText: string,
): boolean {
  if (message.url === '/__counts') {
    response.end(JSON.stringify({ ...fakeProvider.counts, openConnections: fakeProvider.openConnections }))
  } else if (message.url === '/__script') {
    if (message.method === 'PUT') fakeProvider.script(JSON.parse(bodyText) as Scenario)
    else fakeProvider.reset()
    response.end()
  } else return false
  return true
}
