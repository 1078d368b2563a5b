/** Turns a request into a WebSocket whose messages a realtime session takes. */
import { createError } from '../errors/errors.ts'
import type { ClientSocket } from '../pipeline/endpoints/realtime/client-socket.ts'
import type { RealtimeRequest, RealtimeSessions } from '../pipeline/endpoints/realtime/open-session.ts'
import type { RealtimeSession } from '../pipeline/endpoints/realtime/relay-session.ts'
import type { RouteTarget } from '../pipeline/request/request.ts'
import { type ConnectionLimiter, type IncomingRequest, type Ingress, readAuthorization } from './ingress.ts'
import { parseUrl } from './paths.ts'

export interface RealtimeHandlerOptions {
  realtime: RealtimeSessions
  connections: ConnectionLimiter
}

/** OpenAI's clients in browsers, which can set no headers, send the key so. */
const KEY_PROTOCOL = 'openai-insecure-api-key.'
const PROTOCOL = 'realtime'
const TARGET: RouteTarget = { kind: 'realtime' }

/** Larger messages end the session: OpenAI takes 15 MiB of sound at a time. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024
/** A client that does not even answer pings is gone. */
const DEAD_AFTER_SECONDS = 60

/** For the server's WebSockets. */
export const WEBSOCKET_LIMITS = {
  maxPayloadLength: MAX_MESSAGE_BYTES,
  idleTimeout: DEAD_AFTER_SECONDS,
  sendPings: true,
  perMessageDeflate: false,
}

/** The part of Bun's socket that is needed here. */
interface RawSocket {
  send(text: string): number
  close(code: number, reason: string): void
  terminate(): void
  getBufferedAmount(): number
}

/** Resolves to undefined when the connection has become a WebSocket. */
export function createRealtimeHandler({ realtime, connections }: RealtimeHandlerOptions, entrance: Ingress) {
  return async (incoming: IncomingRequest): Promise<Response | undefined> => {
    const { request, server } = incoming
    const arrival = entrance.createContext(request)
    const { headers } = request
    let asked: RealtimeRequest | null = null
    try {
      if (!server || headers.get('upgrade')?.toLowerCase() !== 'websocket') throw createError('upgradeRequired')
      connections.check(server)
      // The provider has limits of its own.
      server.timeout(request, 0)
      const protocols = (headers.get('sec-websocket-protocol') ?? '').split(',').map(each => each.trim())
      asked = {
        target: TARGET,
        id: arrival.requestId,
        ...readSession(request),
        authorization: readAuthorization(headers) ?? readKey(protocols),
        address: entrance.clientAddressOf(incoming),
        headers,
        arrivedAtMs: arrival.arrivedAtMs,
        signal: new AbortController().signal,
      }
      const session = await realtime.open(asked)
      const chosen = protocols.includes(PROTOCOL) ? { 'sec-websocket-protocol': PROTOCOL } : {}
      const answered = { 'x-request-id': arrival.requestId, ...chosen }
      if (server.upgrade(request, { headers: answered, data: takeMessages(session) })) return undefined
      // The client has left.
      session.onClientClosed({ code: 1001, reason: '' })
      throw createError('upgradeRequired')
    } catch (error) {
      const response = entrance.respondToError(error, incoming, arrival)
      if (!asked?.isRecorded) entrance.countUnrecorded(TARGET, response.status)
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

function readKey(protocols: readonly string[]): string | null {
  const key = protocols.find(each => each.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length)
  return key === undefined ? null : `Bearer ${key}`
}

/** As Elysia's WebSockets call their data. */
function takeMessages(session: RealtimeSession) {
  return {
    open: (socket: RawSocket) => session.attach(toClient(socket)),
    message: (_: RawSocket, message: string | Uint8Array) =>
      session.receive(typeof message === 'string' ? message : new TextDecoder().decode(message)),
    drain: () => session.onClientDrained(),
    close: (_: RawSocket, code: number, reason: string) => session.onClientClosed({ code, reason }),
  }
}

function toClient(socket: RawSocket): ClientSocket {
  return {
    get bufferedBytes() {
      return socket.getBufferedAmount()
    },
    send: text => void socket.send(text),
    close: ({ code, reason }) => socket.close(isSendable(code) ? code : 1000, reason),
    terminate: () => socket.terminate(),
  }
}

/** 1005 and 1006 stand for what nobody said. */
function isSendable(code: number): boolean {
  return code !== 1005 && code !== 1006 && code !== 1015
}
