/** The two WebSockets of a session: opens the provider's, which buffers messages until a listener is attached. */
import { EventFilter } from '../../../providers/credentials/event-filter.ts'
import type { RealtimeAddress } from '../../../providers/upstream.ts'
import { brokenResponseError, connectTimeoutError } from '../../../providers/upstream-failure.ts'

/** The close code and reason of a WebSocket (RFC 6455). */
export interface SocketClose {
  code: number
  reason: string
}

export interface UpstreamSocket {
  /** Bytes that wait to be written to the connection. */
  readonly bufferedBytes: number
  send(text: string): void
  close(end: SocketClose): void
  /** Attaches the listener. It receives buffered messages first. */
  listen(listener: UpstreamListener): void
}

export interface UpstreamListener {
  onMessage(text: string): void
  onClose(end: SocketClose): void
}

const CONNECT_TIME_LIMIT_MS = 10_000
/** The close code of a lost connection. */
export const CONNECTION_LOST = 1006

/** Opens the WebSocket. Throws a 502 if the provider does not open it, and a 504 if it takes too long. */
export function connectRealtimeUpstream(
  provider: string,
  { url, headers, credentials }: RealtimeAddress,
): Promise<UpstreamSocket> {
  // Bun's WebSocket accepts headers, unlike the standard one.
  const socket = new WebSocket(url, { headers } as unknown as string[])
  const events = new EventFilter<string>(credentials, (_, body) => JSON.stringify(body))
  const received: string[] = []
  let ended: SocketClose | null = null
  let listener: UpstreamListener = {
    onMessage: text => void received.push(text),
    onClose(end) {
      ended = end
    },
  }

  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(connectTimeoutError(provider, CONNECT_TIME_LIMIT_MS))
      socket.close()
    }, CONNECT_TIME_LIMIT_MS)
    const forward = (texts: string[]) => texts.forEach(text => void listener.onMessage(text))
    socket.onmessage = ({ data }) => {
      const text = credentials.redact(typeof data === 'string' ? data : new TextDecoder().decode(data))
      forward(events.push(text, text))
    }
    socket.onclose = ({ code, reason }) => {
      clearTimeout(timer)
      forward(events.end())
      reject(brokenResponseError(provider, 'did not open a realtime session'))
      listener.onClose({ code, reason: credentials.redact(reason) })
    }
    socket.onopen = () => {
      clearTimeout(timer)
      resolve({
        get bufferedBytes() {
          return socket.bufferedAmount
        },
        send: text => socket.send(text),
        close: ({ code, reason }) => socket.close(isSendable(code) ? code : NORMAL_CLOSE_CODE, reason),
        listen(next) {
          listener = next
          for (const text of received.splice(0)) next.onMessage(text)
          if (ended) next.onClose(ended)
        },
      })
    }
  })
}

const NORMAL_CLOSE_CODE = 1000

/** Whether a WebSocket client may send this close code. */
function isSendable(code: number): boolean {
  return code === NORMAL_CLOSE_CODE || (code >= 3000 && code < 5000)
}

/** The client's WebSocket. */
export interface ClientSocket {
  /** Bytes that wait to be written to the connection. */
  readonly bufferedBytes: number
  send(text: string): void
  close(end: SocketClose): void
  /** Closes the connection at once and drops its buffered bytes. */
  terminate(): void
}

/** Why the proxy closes a session. */
export const CLOSE_REASONS = {
  stopping: { code: 1001, reason: 'The proxy is stopping: connect again.' },
  rejected: { code: 1008, reason: 'The session is no longer admitted.' },
  broken: { code: 1011, reason: 'The provider closed the connection unexpectedly.' },
  tooSlow: { code: 1013, reason: 'The client reads too slowly.' },
  tooFast: { code: 1013, reason: 'The client sends faster than the provider reads.' },
  idle: { code: 1000, reason: 'No event for 15 minutes.' },
} as const satisfies Record<string, SocketClose>
