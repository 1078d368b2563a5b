/** The provider's side of a session: a WebSocket that is open, and keeps what it receives until somebody listens. */
import { EventFilter } from '../../../providers/credentials/event-filter.ts'
import type { RealtimeAddress } from '../../../providers/upstream.ts'
import { brokenResponseError, connectTimeoutError } from '../../../providers/upstream-failure.ts'

/** How a side ended, as RFC 6455 has it. */
export interface SocketClose {
  code: number
  reason: string
}

export interface UpstreamSocket {
  /** Bytes that were sent, and are not on their way yet. */
  readonly bufferedBytes: number
  send(text: string): void
  close(end: SocketClose): void
  /** From now on, and with all that was received before. */
  listen(listener: UpstreamListener): void
}

export interface UpstreamListener {
  onMessage(text: string): void
  onClose(end: SocketClose): void
}

const CONNECT_LIMIT_MS = 10_000
/** The connection was lost. */
export const CONNECTION_LOST_CODE = 1006

/** Throws a 502 when the provider does not open it, a 504 when it takes too long. */
export function connectRealtimeUpstream(
  provider: string,
  { url, headers, credentials }: RealtimeAddress,
): Promise<UpstreamSocket> {
  // Bun's takes headers, which the standard's does not.
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
      reject(connectTimeoutError(provider, CONNECT_LIMIT_MS))
      socket.close()
    }, CONNECT_LIMIT_MS)
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
        close: ({ code, reason }) => socket.close(isSendable(code) ? code : NORMAL, reason),
        listen(next) {
          listener = next
          for (const text of received.splice(0)) next.onMessage(text)
          if (ended) next.onClose(ended)
        },
      })
    }
  })
}

const NORMAL = 1000

/** What a client of a WebSocket may say. */
function isSendable(code: number): boolean {
  return code === NORMAL || (code >= 3000 && code < 5000)
}
