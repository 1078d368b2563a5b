/**
 * Sends a body to its client in pieces, with backpressure: counts unread data in the memory budget, sends comments during silence, disconnects
 * clients that do not read, and reports the end.
 */
import type { ResponseConsumer, ResponseMemory } from '../event-loop/response-memory.ts'

/** A longer body is sent in pieces of this size: the runtime would copy it at once, and keep it until the client has read it. */
export const MAX_PIECE_BYTES = 65_536
export const KEEP_ALIVE = new TextEncoder().encode(': keep-alive\n\n')
/** Load balancers cut connections that are silent for a minute, some for thirty seconds. */
const KEEP_ALIVE_EVERY_MS = 15_000
/** A client that reads nothing for this long counts as disconnected. */
const UNREAD_LIMIT_MS = 120_000
/** When the budget is full, the buffer of a shared stream gets this long to disconnect a client first, because it can report that in an event. */
const EVENTS_GRACE_MS = 10_000
/** Bytes that the runtime reads ahead from a provider that is faster than the client, before it pauses the socket. */
const RUNTIME_READ_AHEAD_BYTES = 1_572_864
/** A provider is ahead of the client if one read returns at least this much. */
const MIN_AHEAD_BYTES = 32_768

const LINE_FEED = 10
const CARRIAGE_RETURN = 13

export interface StreamBodyOptions {
  /** Whether the body is a stream of server-sent events, which may have comments between events. */
  hasEvents: boolean
  memory: ResponseMemory
  /** Called once, when everything has been sent, the source has failed, or the client has left or been cut off. */
  onEnd(): void
  /** Closes the connection of a client that is cut off: the runtime keeps it as long as the client does not read. */
  disconnect?(): void
  /** Sent to a client that waits for the next event; a comment by default. */
  keepAlive?: Uint8Array
  keepAliveEveryMs?: number
  unreadLimitMs?: number
}

/** Relays the source with backpressure. Cancelling the result cancels the source. */
export function streamBody(
  source: ReadableStream<Uint8Array> | Uint8Array,
  options: StreamBodyOptions,
): ReadableStream<Uint8Array> {
  return new ReadableStream(new ClientBody(source, options))
}

type SourceReader = ReadableStreamDefaultReader<Uint8Array>
type Controller = ReadableStreamDefaultController<Uint8Array>

class ClientBody implements ResponseConsumer {
  readonly #options: StreamBodyOptions
  readonly #reader: (Pick<SourceReader, 'cancel'> & { read(): Promise<{ value?: Uint8Array | undefined }> }) | null
  /** Bytes that were read from the source and not sent yet. */
  #unsent: Uint8Array
  #waitingBytes = 0
  #lastSentMs = performance.now()
  /** Whether the client is waiting for data, rather than the proxy for the client. */
  #isAwaited = false
  #betweenEvents = true
  #timer: ReturnType<typeof setInterval> | undefined
  #controller: Controller | null = null

  constructor(source: ReadableStream<Uint8Array> | Uint8Array, options: StreamBodyOptions) {
    const { memory } = options
    const isWhole = source instanceof Uint8Array
    this.#options = options
    this.#reader = isWhole ? null : source.getReader()
    this.#unsent = isWhole ? source : EMPTY
    if (isWhole) {
      // Replaces the bytes that were counted while the body was created.
      memory.set(0)
      memory.addShared(source)
    }
    memory.setConsumer(this)
  }

  start(controller: Controller): void {
    const { keepAliveEveryMs = KEEP_ALIVE_EVERY_MS, unreadLimitMs = UNREAD_LIMIT_MS } = this.#options
    this.#controller = controller
    this.#timer = setInterval(
      () => this.#watch(keepAliveEveryMs, unreadLimitMs),
      Math.min(keepAliveEveryMs, unreadLimitMs) / 4,
    )
  }

  async pull(controller: Controller): Promise<void> {
    this.#isAwaited = true
    try {
      const piece = await this.#readPiece()
      this.#isAwaited = false
      if (this.#timer === undefined) return
      if (piece === null) {
        this.#end()
        return controller.close()
      }
      this.#lastSentMs = performance.now()
      this.#betweenEvents = endsEvent(piece)
      this.#countWaiting(piece)
      controller.enqueue(piece)
    } catch (error) {
      this.#end()
      throw error
    }
  }

  async cancel(reason: unknown): Promise<void> {
    this.#end()
    await this.#reader?.cancel(reason)
  }

  unreadSinceMs(): number {
    if (this.#isAwaited || this.#timer === undefined) return Number.POSITIVE_INFINITY
    return this.#lastSentMs + (this.#options.hasEvents && this.#reader ? EVENTS_GRACE_MS : 0)
  }

  disconnect(): void {
    if (this.#timer === undefined) return
    this.#end()
    const error = new Error('The client does not read')
    this.#controller?.error(error)
    this.#reader?.cancel(error).catch(() => {})
    this.#options.disconnect?.()
  }

  #watch(keepAliveEveryMs: number, unreadLimitMs: number): void {
    const silentMs = performance.now() - this.#lastSentMs
    if (this.#isAwaited && this.#options.hasEvents && this.#betweenEvents && silentMs >= keepAliveEveryMs) {
      this.#lastSentMs = performance.now()
      this.#controller?.enqueue(this.#options.keepAlive ?? KEEP_ALIVE)
    } else if (!this.#isAwaited && silentMs >= unreadLimitMs) this.disconnect()
  }

  /** Returns null at the end of the source. */
  async #readPiece(): Promise<Uint8Array | null> {
    if (this.#unsent.length > 0) await new Promise(setImmediate)
    else {
      const value = this.#reader ? (await this.#reader.read()).value : undefined
      if (value === undefined) return null
      this.#unsent = value
    }
    const isLong = this.#unsent.length > MAX_PIECE_BYTES
    const piece = isLong ? this.#unsent.subarray(0, MAX_PIECE_BYTES) : this.#unsent
    this.#unsent = isLong ? this.#unsent.subarray(MAX_PIECE_BYTES) : EMPTY
    return piece
  }

  #countWaiting(piece: Uint8Array): void {
    const bytes = this.#measure(piece)
    if (bytes !== this.#waitingBytes) this.#options.memory.add(bytes - this.#waitingBytes)
    this.#waitingBytes = bytes
  }

  #measure(piece: Uint8Array): number {
    if (!this.#reader) return piece.length
    const bytes = piece.length + this.#unsent.length
    // Events are counted where they are buffered.
    if (this.#options.hasEvents) return bytes > MAX_PIECE_BYTES ? bytes : 0
    return bytes >= MIN_AHEAD_BYTES ? bytes + RUNTIME_READ_AHEAD_BYTES : bytes
  }

  #end(): void {
    if (this.#timer === undefined) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#unsent = EMPTY
    this.#options.memory.release()
    this.#options.onEnd()
  }
}

const EMPTY = new Uint8Array(0)

/** Whether the bytes end with an empty line. */
function endsEvent(bytes: Uint8Array): boolean {
  const last = bytes.at(-1)
  const before = bytes.at(-2)
  const thirdLast = bytes.at(-3)
  if (last === CARRIAGE_RETURN) return before === CARRIAGE_RETURN
  if (last !== LINE_FEED) return false
  return (
    before === LINE_FEED || (before === CARRIAGE_RETURN && (thirdLast === LINE_FEED || thirdLast === CARRIAGE_RETURN))
  )
}
