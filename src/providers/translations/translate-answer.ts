/** Translates a chat provider's bytes, streamed or plain, into another operation's; a long plain response in a worker. */

import { ProxyError } from '../../errors.ts'
import { Job, offLoop } from '../../event-loop/off-loop.ts'
import { createSseParser, encodeTypedEvents, type SseEvent, type TypedEvent } from '../../formats/sse/sse.ts'
import { type StreamTranslation, type TranslationContext, translationOf } from '../../formats/translation.ts'
import { isJsonObject, parseJsonObject } from '../../json/canonical.ts'
import { openBegun } from '../begun-stream.ts'
import type { AnswerBytes } from '../read-bytes.ts'
import { broken } from '../upstream-failure.ts'

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

export interface PlainAnswer {
  parts: readonly Uint8Array[]
  translated: TranslationContext
}

/** `fault` says what is wrong with an invalid response. */
export type PlainTranslation = { bytes: Uint8Array } | { fault: string }

const TRANSLATE = new Job<PlainAnswer, PlainTranslation>(new URL('../jobs.ts', import.meta.url), 'translateAnswer')

/** Throws a 502 for an invalid chat response, and the ProxyError that a response reports. */
export async function translatePlain(
  answer: AnswerBytes,
  provider: string,
  translated: TranslationContext,
): Promise<Uint8Array> {
  const translation =
    'whole' in answer
      ? translateBytes(answer.whole, translated)
      : await offLoop.run(
          TRANSLATE,
          { parts: answer.gathered.parts, translated },
          { transfer: answer.gathered.buffers },
        )
  if ('fault' in translation) throw broken(provider, translation.fault)
  return translation.bytes
}

export function translateBytes(bytes: Uint8Array, translated: TranslationContext): PlainTranslation {
  const answer = parseJsonObject(new TextDecoder().decode(bytes))
  if (!answer) return { fault: 'gave an answer that is not a JSON object' }
  if (!Array.isArray(answer.choices) && !isJsonObject(answer.error)) return { fault: 'gave an answer without choices' }
  return { bytes: new TextEncoder().encode(JSON.stringify(translationOf(translated).fromAnswer(answer))) }
}
