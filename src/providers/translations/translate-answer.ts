/** Translates a chat provider's bytes, streamed or plain, into another operation's; a long plain response in a worker. */

import { Job, offLoop } from '../../event-loop/off-loop.ts'
import { isJsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import { encodeTypedEvents, type SseEvent, type StreamTranslation, type TypedEvent } from '../../formats/sse/sse.ts'
import { type TranslationContext, translationOf } from '../../formats/translation.ts'
import type { AnswerBytes } from '../read-bytes.ts'
import { translateEvents } from '../translate-events.ts'
import { noResponse } from '../upstream-failure.ts'

/** As `translateEvents`. A failure after the first events is reported in the stream. */
export function translateStream(
  upstream: ReadableStream<Uint8Array>,
  provider: string,
  translation: StreamTranslation,
): Promise<ReadableStream<Uint8Array>> {
  let isDone = false
  return translateEvents(upstream, provider, {
    push(event) {
      isDone = event.data.trim() === '[DONE]'
      const events = isDone ? translation.finish() : translateEvent(event, provider, translation)
      return events.length > 0 ? encodeTypedEvents(events) : null
    },
    get isDone() {
      return isDone
    },
    fail: error => encodeTypedEvents(translation.fail(error)),
  })
}

function translateEvent({ data, event }: SseEvent, provider: string, translation: StreamTranslation): TypedEvent[] {
  const chunk = parseJsonObject(data)
  if (!chunk) throw noResponse(provider, 'sent a chunk that cannot be read')
  return translation.push(event === 'error' && chunk.error === undefined ? { error: chunk } : chunk)
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
  owner: number,
): Promise<Uint8Array> {
  const translation =
    'whole' in answer
      ? translateBytes(answer.whole, translated)
      : await offLoop.run(
          TRANSLATE,
          { parts: answer.gathered.parts, translated },
          { owner, transfer: answer.gathered.buffers },
        )
  if ('fault' in translation) throw noResponse(provider, translation.fault)
  return translation.bytes
}

export function translateBytes(bytes: Uint8Array, translated: TranslationContext): PlainTranslation {
  const answer = parseJsonObject(new TextDecoder().decode(bytes))
  if (!answer) return { fault: 'gave an answer that is not a JSON object' }
  if (!Array.isArray(answer.choices) && !isJsonObject(answer.error)) return { fault: 'gave an answer without choices' }
  return { bytes: new TextEncoder().encode(JSON.stringify(translationOf(translated).fromAnswer(answer))) }
}
