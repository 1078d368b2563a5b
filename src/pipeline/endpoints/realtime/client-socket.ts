/** The client's side of a session, and the reasons for which the proxy closes a session. */
import type { SocketClose } from './connect-upstream.ts'

/** The client's WebSocket. */
export interface ClientSocket {
  /** Bytes that wait to be written to the connection. */
  readonly bufferedBytes: number
  send(text: string): void
  close(end: SocketClose): void
  /** Closes the connection at once and drops its buffered bytes. */
  terminate(): void
}

export const CLOSE_REASONS = {
  stopping: { code: 1001, reason: 'The proxy is stopping: connect again.' },
  rejected: { code: 1008, reason: 'The session is no longer admitted.' },
  broken: { code: 1011, reason: 'The provider closed the connection unexpectedly.' },
  tooSlow: { code: 1013, reason: 'The client reads too slowly.' },
  tooFast: { code: 1013, reason: 'The client sends faster than the provider reads.' },
  idle: { code: 1000, reason: 'No event for 15 minutes.' },
} as const satisfies Record<string, SocketClose>
