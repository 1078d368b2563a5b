/** Streams a body to the client: sends comments during silence, gives up on clients that do not read, and reports the end. */

const KEEP_ALIVE = new TextEncoder().encode(': keep-alive\n\n')
/** Load balancers cut connections that are silent for a minute, some for thirty seconds. */
const KEEP_ALIVE_EVERY_MS = 15_000
/** A client that reads nothing for this long counts as gone. */
const UNREAD_LIMIT_MS = 120_000

const LINE_FEED = 10
const CARRIAGE_RETURN = 13

export interface StreamBodyOptions {
  /** Whether it is a stream of server-sent events, which may have comments between events. */
  hasEvents: boolean
  /** Called once, when everything has been sent, the source has failed, or the client has left. */
  onEnd(): void
  keepAliveEveryMs?: number
  unreadLimitMs?: number
}

/** Relays the source with backpressure. Cancelling the result cancels the source. */
export function streamBody(source: ReadableStream<Uint8Array>, options: StreamBodyOptions): ReadableStream<Uint8Array> {
  const { hasEvents, onEnd, keepAliveEveryMs = KEEP_ALIVE_EVERY_MS, unreadLimitMs = UNREAD_LIMIT_MS } = options
  const reader = source.getReader()
  let lastSentMs = performance.now()
  /** Whether the client is waiting for data, rather than the proxy for the client. */
  let isAwaited = false
  let betweenEvents = true
  let timer: ReturnType<typeof setInterval> | undefined

  function end(): void {
    if (timer === undefined) return
    clearInterval(timer)
    timer = undefined
    onEnd()
  }

  function watch(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const silentMs = performance.now() - lastSentMs
    if (isAwaited && hasEvents && betweenEvents && silentMs >= keepAliveEveryMs) {
      lastSentMs = performance.now()
      controller.enqueue(KEEP_ALIVE)
    } else if (!isAwaited && silentMs >= unreadLimitMs) {
      end()
      const error = new Error('The client does not read')
      controller.error(error)
      reader.cancel(error).catch(() => {})
    }
  }

  return new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setInterval(watch, Math.min(keepAliveEveryMs, unreadLimitMs) / 4, controller)
    },
    async pull(controller) {
      isAwaited = true
      try {
        const { done, value } = await reader.read()
        isAwaited = false
        if (timer === undefined) return
        if (done) {
          end()
          return controller.close()
        }
        lastSentMs = performance.now()
        betweenEvents = endsEvent(value)
        controller.enqueue(value)
      } catch (error) {
        end()
        throw error
      }
    },
    cancel(reason) {
      end()
      return reader.cancel(reason)
    },
  })
}

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
