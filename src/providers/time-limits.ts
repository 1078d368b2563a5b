/** The types of time limits on responses. */

/** Limits on the time that a provider takes to respond, in milliseconds; Infinity for none. */
export interface TimeLimits {
  /** From the request to the first token of a stream: text, reasoning or a part of a tool call. */
  firstTokenMs: number
  /** From one token of a stream to the next. */
  idleMs: number
  /** From the request to the end of a response that is not a stream. */
  responseMs: number
  /** The limit of the client itself, which says nothing about the provider; null if it sets none. */
  clientMs: number | null
}

/** The time limits of the process for streams. */
export interface StreamTimeouts {
  /** The longest time from the request to the first byte, and to the first token. */
  firstByteTimeoutMs: number
  /** The longest time between two reads of the body, and between two tokens. */
  idleTimeoutMs: number
}
