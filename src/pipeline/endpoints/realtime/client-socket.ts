/** The client's side of a session, and how the proxy itself ends one. */
import type { SocketClose } from './connect-upstream.ts'

/** The client's side. */
export interface ClientSocket {
  /** Bytes that were sent, and are not on their way yet. */
  readonly bufferedBytes: number
  send(text: string): void
  close(end: SocketClose): void
  /** Closes the connection, and forgets what waits for it. */
  terminate(): void
}

export const CLOSE_REASONS = {
  stopping: { code: 1001, reason: 'The proxy is about to stop: connect again.' },
  rejected: { code: 1008, reason: 'The session is not admitted any more.' },
  broken: { code: 1011, reason: 'The provider broke off.' },
  tooSlow: { code: 1013, reason: 'Too much waits to be taken by this client.' },
  tooFast: { code: 1013, reason: 'Too much waits to be taken by the provider.' },
  idle: { code: 1000, reason: 'Nothing was said for 15 minutes.' },
} as const satisfies Record<string, SocketClose>
