/** Translates an upstream's event stream as it comes. Its first piece is awaited: an earlier failure can then become an error response. */
import { ProxyError } from '../errors/errors.ts'
import { createSseParser, type SseEvent } from '../formats/sse/sse.ts'

export interface EventTranslator {
  /** Returns the bytes for one event; null for none. Throws a ProxyError. */
  push(event: SseEvent): Uint8Array | null
  /** Whether the last event was among them. */
  readonly isDone: boolean
  /** Ends a stream that has ended without its last event: returns its last bytes. Throws a ProxyError where it was cut. */
  end(): Uint8Array | null
  /** Returns the bytes that come before the error which ended a response; null for none. */
  flushOnError?(): Uint8Array | null
  /** Returns the bytes that end a response which broke off; without it, reading throws the error. */
  encodeError?(error: ProxyError): Uint8Array
}

type Reader = ReturnType<typeof openReader>

function openReader(stream: ReadableStream<Uint8Array>) {
  return stream.getReader()
}

/** Rejects, or later throws, with a ProxyError: the upstream's own error, or that it broke off. Reading throws when the client has left. */
export async function translateEvents(
  upstream: ReadableStream<Uint8Array>,
  translator: EventTranslator,
): Promise<ReadableStream<Uint8Array>> {
  const reader = openReader(upstream)
  const pieces = translatePieces(reader, translator)
  const first = await pieces.next()
  let isFirst = true
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = isFirst ? first : await pieces.next()
        isFirst = false
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: reason => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

async function* translatePieces(reader: Reader, translator: EventTranslator): AsyncGenerator<Uint8Array, undefined> {
  let events: SseEvent[] = []
  const push = (event: SseEvent) => void events.push(event)
  const parser = createSseParser(push, push)
  let hasBegun = false
  try {
    for (let isOver = false; !isOver; ) {
      const { done, value } = await reader.read()
      if (done) parser.end()
      else parser.push(value)
      for (const event of events) {
        const piece = translator.isDone ? null : translator.push(event)
        if (!piece) continue
        hasBegun = true
        yield piece
      }
      events = []
      isOver = done || translator.isDone
    }
    if (translator.isDone) return void readToEnd(reader)
    const rest = translator.end()
    if (rest) yield rest
  } catch (error) {
    void reader.cancel(error).catch(() => {})
    const last = hasBegun ? translator.flushOnError?.() : null
    if (last) yield last
    if (!hasBegun || !translator.encodeError || !(error instanceof ProxyError)) throw error
    yield translator.encodeError(error)
  }
}

/** Reads past the end, so that the connection can be reused. */
async function readToEnd(reader: Reader): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The response is already complete.
  }
}
