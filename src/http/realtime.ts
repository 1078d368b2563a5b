/** Upgrades a request to a WebSocket and passes its messages to a realtime session. */
import { createError } from '../errors/errors.ts'
import type { RealtimeRequest, RealtimeSessions } from '../pipeline/endpoints/realtime/open-session.ts'
import type { RealtimeSession } from '../pipeline/endpoints/realtime/relay-session.ts'
import type { ClientSocket } from '../pipeline/endpoints/realtime/sockets.ts'
import type { RouteTarget } from '../pipeline/request/request.ts'
import { type ConnectionLimiter, type IncomingRequest, type Ingress, readAuthorization } from './ingress.ts'
import { parseUrl } from './paths.ts'

export interface RealtimeHandlerOptions {
  realtime: RealtimeSessions
  connections: ConnectionLimiter
}

/** The subprotocol in which OpenAI's clients in browsers, which can set no headers, send the key. */
const KEY_PROTOCOL = 'openai-insecure-api-key.'
const PROTOCOL = 'realtime'
const TARGET: RouteTarget = { kind: 'realtime' }

/** A larger message ends the session. OpenAI accepts 15 MiB of audio at a time. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024
/** A client that answers no ping for this long counts as disconnected. */
const PING_TIMEOUT_SECONDS = 60

/** Options of the server's WebSockets. */
export const WEBSOCKET_LIMITS = {
  maxPayloadLength: MAX_MESSAGE_BYTES,
  idleTimeout: PING_TIMEOUT_SECONDS,
  sendPings: true,
  perMessageDeflate: false,
}

/** The part of Bun's socket that this file uses. */
interface RawSocket {
  send(text: string): number
  close(code: number, reason: string): void
  terminate(): void
  getBufferedAmount(): number
}

/** Creates the handler, which resolves to undefined when the connection has become a WebSocket. */
export function createRealtimeHandler({ realtime, connections }: RealtimeHandlerOptions, ingress: Ingress) {
  return async (incoming: IncomingRequest): Promise<Response | undefined> => {
    const { request, server } = incoming
    const context = ingress.createContext(request)
    const { headers } = request
    let realtimeRequest: RealtimeRequest | null = null
    try {
      if (!server || headers.get('upgrade')?.toLowerCase() !== 'websocket') throw createError('upgradeRequired')
      connections.check(server)
      // The provider has limits of its own.
      server.timeout(request, 0)
      const protocols = (headers.get('sec-websocket-protocol') ?? '').split(',').map(each => each.trim())
      realtimeRequest = {
        target: TARGET,
        id: context.requestId,
        ...readSession(request),
        authorization: readAuthorization(request) ?? readProtocolKey(protocols),
        address: ingress.clientAddressOf(incoming),
        headers,
        arrivedAtMs: context.arrivedAtMs,
        signal: new AbortController().signal,
      }
      const session = await realtime.open(realtimeRequest)
      const protocolHeader = protocols.includes(PROTOCOL) ? { 'sec-websocket-protocol': PROTOCOL } : {}
      const responseHeaders = { 'x-request-id': context.requestId, ...protocolHeader }
      if (server.upgrade(request, { headers: responseHeaders, data: createSocketHandlers(session) })) return undefined
      // The client has disconnected.
      session.onClientClosed({ code: 1001, reason: '' })
      throw createError('upgradeRequired')
    } catch (error) {
      const response = ingress.respondToError(error, incoming, context, realtimeRequest?.authorization)
      if (!realtimeRequest?.isRecorded) ingress.countUnrecorded(TARGET, response.status)
      return response
    }
  }
}

function readSession(request: Request): Pick<RealtimeRequest, 'model' | 'isTranscription'> {
  const { searchParams } = parseUrl(request)
  // Azure's clients name a deployment.
  const model = searchParams.get('model') ?? searchParams.get('deployment')
  return { model, isTranscription: searchParams.get('intent') === 'transcription' }
}

function readProtocolKey(protocols: readonly string[]): string | null {
  const key = protocols.find(each => each.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length)
  return key === undefined ? null : `Bearer ${key}`
}

/** Returns the handlers under the names that Elysia's WebSockets use. */
function createSocketHandlers(session: RealtimeSession) {
  return {
    open: (socket: RawSocket) => session.attach(toClientSocket(socket)),
    message: (_: RawSocket, message: string | Uint8Array) =>
      session.receive(typeof message === 'string' ? message : new TextDecoder().decode(message)),
    drain: () => session.onClientDrained(),
    close: (_: RawSocket, code: number, reason: string) => session.onClientClosed({ code, reason }),
  }
}

function toClientSocket(socket: RawSocket): ClientSocket {
  return {
    get bufferedBytes() {
      return socket.getBufferedAmount()
    },
    send: text => void socket.send(text),
    close: ({ code, reason }) => socket.close(isSendable(code) ? code : 1000, reason),
    terminate: () => socket.terminate(),
  }
}

/** Codes 1005, 1006 and 1015 are never sent: they stand for a close without a code. */
function isSendable(code: number): boolean {
  return code !== 1005 && code !== 1006 && code !== 1015
}
