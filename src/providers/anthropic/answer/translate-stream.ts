/** Translates the bytes of Anthropic's event stream into OpenAI's. */
import { createSseParser, type SseEvent } from '../../../formats/sse/sse.ts'
import { openBegun } from '../../begun-stream.ts'
import { broken } from '../../upstream-failure.ts'
import type { AnswerContext } from './answer-context.ts'
import { StreamTranslator } from './stream-translator.ts'

type Reader = ReturnType<typeof openReader>

const encoder = new TextEncoder()

/**
 * Resolves with the first chunk, so that an earlier failure becomes an error response with a status. Rejects, and later reading throws,
 * with a ProxyError: the upstream's own error, or that it broke off.
 */
export async function translateStream(
  upstream: ReadableStream<Uint8Array>,
  context: AnswerContext,
): Promise<ReadableStream<Uint8Array>> {
  const reader = openReader(upstream)
  return openBegun(translateChunks(reader, context), reason => reader.cancel(reason))
}

function openReader(stream: ReadableStream<Uint8Array>) {
  return stream.getReader()
}

async function* translateChunks(reader: Reader, context: AnswerContext): AsyncGenerator<Uint8Array, undefined> {
  const translator = new StreamTranslator(context)
  let events: SseEvent[] = []
  const parser = createSseParser(event => events.push(event))
  try {
    for (let isOver = false; !isOver; ) {
      const { done, value } = await reader.read()
      if (done) parser.end()
      else parser.push(value)
      yield* translateEvents(events, translator)
      events = []
      isOver = done || translator.isDone
    }
    if (!translator.isDone) throw broken('anthropic', 'ended its answer before it was whole')
    void readToEnd(reader)
  } catch (error) {
    void reader.cancel(error).catch(() => {})
    throw error
  }
}

/** Yields the events before an error first. */
function* translateEvents(events: readonly SseEvent[], translator: StreamTranslator): Generator<Uint8Array> {
  for (const { data } of events) {
    const payloads = translator.push(data)
    if (payloads.length > 0) yield encoder.encode(payloads.map(payload => `data: ${payload}\n\n`).join(''))
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
