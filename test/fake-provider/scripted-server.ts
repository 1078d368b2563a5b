/** What local servers that act as providers have in common: they record requests, and respond with the scenarios that tests set. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createRecording, type RecordedRequest, type Recording } from './recording.ts'

/** Returns the scenario of a request; undefined for the default response. A promise delays the response until it resolves. */
export type ScriptOf<Scenario> = (request: RecordedRequest) => Scenario | undefined | Promise<Scenario | undefined>

export interface ScriptedServer<Scenario> {
  requests: RecordedRequest[]
  counts: Recording['counts']
  /** The number of currently open connections. */
  readonly openConnections: number
  /** Applies to all later valid requests. */
  script(next: Scenario | ScriptOf<Scenario>): void
  /** Applies to the next valid requests, one scenario each, before `script`. */
  scriptOnce(...scenarios: Scenario[]): void
  /** Clears scripts and recorded requests. Connections stay open. */
  reset(): void
  stop(): Promise<void>
}

export interface ScriptedServerOptions {
  /** By default a free port. */
  port?: number
  /** By default true; false only counts requests. */
  keepsRequests?: boolean
}

export interface Scripted<Scenario> {
  server: ScriptedServer<Scenario>
  /** Adds a request to those of the server. Returns the function to call when its response is cut off. */
  record(request: RecordedRequest, response: ServerResponse): () => void
  /** Whether `scriptOnce` holds a scenario for the next request. */
  hasNext(): boolean
  /** Returns the scenario of a request; undefined for the default response. */
  choose: ScriptOf<Scenario>
  /** Starts the server on 127.0.0.1. Returns its address. */
  listen(answer: (request: RecordedRequest, response: ServerResponse) => void): Promise<string>
}

export function createScriptedServer<Scenario extends object>(options: ScriptedServerOptions): Scripted<Scenario> {
  const recording = createRecording(options.keepsRequests ?? true)
  const sockets = new Set<Socket>()
  const once: Scenario[] = []
  let script: ScriptOf<Scenario> = () => undefined
  const http = createServer()
  // Longer than any test, so that a client's pooled connection stays valid.
  http.keepAliveTimeout = 120_000
  http.on('connection', socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  return {
    server: {
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
        return new Promise(resolve => http.close(() => resolve()))
      },
    },
    record(request, response) {
      recording.add(request)
      response.once('close', () => recording.end(request, response.writableFinished ? 'answered' : 'aborted'))
      return () => recording.end(request, 'cut')
    },
    hasNext: () => once.length > 0,
    choose: request => once.shift() ?? script(request),
    async listen(answer) {
      http.on('request', (message, response) => {
        const parts: Buffer[] = []
        message.on('data', (part: Buffer) => parts.push(part))
        message.on('end', () => answer(readRequest(message, Buffer.concat(parts)), response))
      })
      await new Promise<void>(resolve => http.listen(options.port ?? 0, '127.0.0.1', resolve))
      return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
    },
  }
}

function readRequest(message: IncomingMessage, bytes: Buffer): RecordedRequest {
  const bodyText = bytes.toString()
  const [path = '', query = ''] = (message.url ?? '').split('?')
  return {
    method: message.method ?? '',
    path,
    query,
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
