/** Translates an upstream's event stream as it arrives. The first piece is awaited, so that an earlier failure can become an error response. */
import { ProxyError } from '../errors/errors.ts'
import { createSseParser, type SseEvent } from '../formats/sse/sse.ts'
import { type ByteReader, openReader, readToEnd } from './read-bytes.ts'

export interface EventTranslator {
  /** Returns the bytes for one event; null for none. Throws a ProxyError. */
  push(event: SseEvent): Uint8Array | null
  /** Whether the last event of the stream was pushed. */
  readonly isDone: boolean
  /** Called when the stream has ended without its last event. Returns the last bytes. Throws a ProxyError when the stream was cut. */
  end(): Uint8Array | null
  /** Returns the bytes to send before the error that ended the response; null for none. */
  flushOnError?(): Uint8Array | null
  /** Returns the bytes that end a response that broke off. When this method is absent, reading throws the error. */
  encodeError?(error: ProxyError): Uint8Array
}

/**
 * Rejects with a ProxyError when the upstream reports an error or breaks off before the first piece; later, reading throws it. Reading also
 * throws when the client has disconnected.
 */
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

async function* translatePieces(
  reader: ByteReader,
  translator: EventTranslator,
): AsyncGenerator<Uint8Array, undefined> {
  let events: SseEvent[] = []
  const push = (event: SseEvent) => void events.push(event)
  const parser = createSseParser(push, push)
  let hasStarted = false
  try {
    for (let isFinished = false; !isFinished; ) {
      const { done, value } = await reader.read()
      if (done) parser.end()
      else parser.push(value)
      for (const event of events) {
        const piece = translator.isDone ? null : translator.push(event)
        if (!piece) continue
        hasStarted = true
        yield piece
      }
      events = []
      isFinished = done || translator.isDone
    }
    if (translator.isDone) return void readToEnd(reader)
    const rest = translator.end()
    if (rest) yield rest
  } catch (error) {
    void reader.cancel(error).catch(() => {})
    const last = hasStarted ? translator.flushOnError?.() : null
    if (last) yield last
    if (!hasStarted || !translator.encodeError || !(error instanceof ProxyError)) throw error
    yield translator.encodeError(error)
  }
}
