/** Translates the bytes of a chat stream into another operation's. */

import { ProxyError } from '../../errors.ts'
import { parseJsonObject } from '../../json/json-object.ts'
import { createSseParser, type SseEvent } from '../../openai-format/sse-parser.ts'
import { encodeTypedEvents, type TypedEvent } from '../../openai-format/typed-events.ts'
import { openBegun } from '../begun-stream.ts'
import { broken } from '../upstream-failure.ts'
import type { StreamTranslation } from './answer-translation.ts'

/**
 * Resolves with the first events, so that an earlier failure becomes an error response with a status. Later failures are reported in the
 * stream. Rejects with a ProxyError; reading throws when the client has left.
 */
export async function translateStream(
  upstream: ReadableStream<Uint8Array>,
  provider: string,
  translation: StreamTranslation,
): Promise<ReadableStream<Uint8Array>> {
  const reader = openReader(upstream)
  return openBegun(translateLumps(reader, provider, translation), reason => reader.cancel(reason))
}

type Reader = ReturnType<typeof openReader>

function openReader(stream: ReadableStream<Uint8Array>) {
  return stream.getReader()
}

async function* translateLumps(reader: Reader, provider: string, translation: StreamTranslation) {
  let hasBegun = false
  try {
    for await (const events of readEvents(reader, provider, translation)) {
      if (events.length === 0) continue
      hasBegun = true
      yield encodeTypedEvents(events)
    }
  } catch (error) {
    void reader.cancel(error).catch(() => {})
    if (!hasBegun || !(error instanceof ProxyError)) throw error
    yield encodeTypedEvents(translation.fail(error))
  }
}

async function* readEvents(reader: Reader, provider: string, translation: StreamTranslation) {
  let events: SseEvent[] = []
  const parser = createSseParser(event => events.push(event))
  for (;;) {
    const { done, value } = await reader.read()
    if (done) parser.end()
    else parser.push(value)
    for (const event of events) {
      if (event.data.trim() === '[DONE]') {
        yield translation.finish()
        void readToEnd(reader)
        return
      }
      yield translateEvent(event, provider, translation)
    }
    events = []
    if (done) throw broken(provider, 'ended its answer before it was whole')
  }
}

function translateEvent({ data, event }: SseEvent, provider: string, translation: StreamTranslation): TypedEvent[] {
  const chunk = parseJsonObject(data)
  if (!chunk) throw broken(provider, 'sent a chunk that cannot be read')
  return translation.push(event === 'error' && chunk.error === undefined ? { error: chunk } : chunk)
}

/** Reads past the end, so that the connection can be reused. */
async function readToEnd(reader: Reader): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The response is already complete.
  }
}
