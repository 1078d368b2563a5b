/** Turns a request into a WebSocket whose messages a realtime session takes. */
import { refuse } from '../errors/errors.ts'
import type { Realtime, RealtimeRequest } from '../pipeline/realtime/open-session.ts'
import type { RealtimeSession } from '../pipeline/realtime/relay-session.ts'
import type { ClientSocket } from '../pipeline/realtime/session-ends.ts'
import type { Target } from '../pipeline/request.ts'
import { type ConnectionRoom, type Entrance, type Incoming, readAuthorization } from './incoming.ts'
import { urlOf } from './paths.ts'

export interface RealtimeDoorOptions {
  realtime: Realtime
  connections: ConnectionRoom
}

/** OpenAI's clients in browsers, which can set no headers, send the key so. */
const KEY_PROTOCOL = 'openai-insecure-api-key.'
const PROTOCOL = 'realtime'
const TARGET: Target = { kind: 'realtime' }

/** Larger messages end the session: OpenAI takes 15 MiB of sound at a time. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024
/** A client that does not even answer pings is gone. */
const DEAD_AFTER_SECONDS = 60

/** For the server's WebSockets. */
export const SOCKET_LIMITS = {
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
export function createRealtimeDoor({ realtime, connections }: RealtimeDoorOptions, entrance: Entrance) {
  return async (incoming: Incoming): Promise<Response | undefined> => {
    const { request, server } = incoming
    const arrival = entrance.arrive(request)
    const { headers } = request
    let asked: RealtimeRequest | null = null
    try {
      if (!server || headers.get('upgrade')?.toLowerCase() !== 'websocket') throw refuse('upgradeRequired')
      connections.check(server)
      // The provider has limits of its own.
      server.timeout(request, 0)
      const protocols = (headers.get('sec-websocket-protocol') ?? '').split(',').map(each => each.trim())
      asked = {
        target: TARGET,
        id: arrival.requestId,
        ...readSession(request),
        authorization: readAuthorization(headers) ?? readKey(protocols),
        address: entrance.addressOf(incoming),
        headers,
        arrivedAtMs: arrival.atMs,
        signal: new AbortController().signal,
      }
      const session = await realtime.open(asked)
      const chosen = protocols.includes(PROTOCOL) ? { 'sec-websocket-protocol': PROTOCOL } : {}
      const answered = { 'x-request-id': arrival.requestId, ...chosen }
      if (server.upgrade(request, { headers: answered, data: takeMessages(session) })) return undefined
      // The client has left.
      session.leave({ code: 1001, reason: '' })
      throw refuse('upgradeRequired')
    } catch (error) {
      const response = entrance.fail(error, incoming, arrival)
      if (!asked?.isRecorded) entrance.noteUnrecorded(TARGET, response.status)
      return response
    }
  }
}

function readSession(request: Request): Pick<RealtimeRequest, 'model' | 'isTranscription'> {
  const { searchParams } = urlOf(request)
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
    drain: () => session.drained(),
    close: (_: RawSocket, code: number, reason: string) => session.leave({ code, reason }),
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
