/**
 * Gives a body to its client in pieces, as it reads: counts what waits for it in the memory budget, sends comments during silence, gives up on
 * clients that do not read, and reports the end.
 */
import type { ResponseConsumer, ResponseMemory } from '../event-loop/response-memory.ts'

/** A longer body is given in pieces of this size: the runtime would copy it at once, and keep it until the client has read it. */
export const MAX_PIECE_BYTES = 65_536
const KEEP_ALIVE = new TextEncoder().encode(': keep-alive\n\n')
/** Load balancers cut connections that are silent for a minute, some for thirty seconds. */
const KEEP_ALIVE_EVERY_MS = 15_000
/** A client that reads nothing for this long counts as gone. */
const UNREAD_LIMIT_MS = 120_000
/** In a full budget, a client of a shared stream is first cut off by its buffer, which can report that in an event. */
const EVENTS_GRACE_MS = 10_000
/** What the runtime reads ahead of a provider that is faster than the client, before it stops the socket. */
const RUNTIME_AHEAD_BYTES = 1_572_864
/** A provider of which one read gives less than this is not ahead. */
const AHEAD_FROM_BYTES = 32_768

const LINE_FEED = 10
const CARRIAGE_RETURN = 13

export interface StreamBodyOptions {
  /** Whether it is a stream of server-sent events, which may have comments between events. */
  hasEvents: boolean
  memory: ResponseMemory
  /** Called once, when everything has been sent, the source has failed, or the client has left or been cut off. */
  onEnd(): void
  /** Closes the connection of a client that is cut off: the runtime keeps it as long as the client does not read. */
  disconnect?(): void
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
  /** What was read and not given yet. */
  #rest: Uint8Array
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
    this.#rest = isWhole ? source : NOTHING
    if (isWhole) {
      // In place of what was counted while it was made.
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
      this.#controller?.enqueue(KEEP_ALIVE)
    } else if (!this.#isAwaited && silentMs >= unreadLimitMs) this.disconnect()
  }

  /** Null at the end. */
  async #readPiece(): Promise<Uint8Array | null> {
    if (this.#rest.length > 0) await new Promise(setImmediate)
    else {
      const value = this.#reader ? (await this.#reader.read()).value : undefined
      if (value === undefined) return null
      this.#rest = value
    }
    const isLong = this.#rest.length > MAX_PIECE_BYTES
    const piece = isLong ? this.#rest.subarray(0, MAX_PIECE_BYTES) : this.#rest
    this.#rest = isLong ? this.#rest.subarray(MAX_PIECE_BYTES) : NOTHING
    return piece
  }

  #countWaiting(piece: Uint8Array): void {
    const bytes = this.#measure(piece)
    if (bytes !== this.#waitingBytes) this.#options.memory.add(bytes - this.#waitingBytes)
    this.#waitingBytes = bytes
  }

  #measure(piece: Uint8Array): number {
    if (!this.#reader) return piece.length
    const bytes = piece.length + this.#rest.length
    // Events are counted where they are buffered.
    if (this.#options.hasEvents) return bytes > MAX_PIECE_BYTES ? bytes : 0
    return bytes >= AHEAD_FROM_BYTES ? bytes + RUNTIME_AHEAD_BYTES : bytes
  }

  #end(): void {
    if (this.#timer === undefined) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#rest = NOTHING
    this.#options.memory.release()
    this.#options.onEnd()
  }
}

const NOTHING = new Uint8Array(0)

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
