/** Translates a chat provider's bytes, streamed or plain, into another operation's; a long plain response in a worker. */

import { Job, offLoop } from '../../event-loop/off-loop.ts'
import { formatOf } from '../../formats/format-of.ts'
import { readPlainBody } from '../../formats/read-plain-body.ts'
import { joinBytes } from '../../formats/sse/split-events.ts'
import { encodeTypedEvents, type TypedEvent } from '../../formats/sse/sse.ts'
import type { StreamTranslation } from '../../formats/translate-response.ts'
import { type TranslationContext, translationOf } from '../../formats/translation.ts'
import type { AnswerBytes } from '../read-bytes.ts'
import { encode, judge, type PlainReading } from '../read-response.ts'
import { translateEvents } from '../translate-events.ts'
import { withUsage } from '../upstream-failure.ts'

/** As `translateEvents`. A failure after the first part is reported in the stream. */
export function translateStream(
  upstream: ReadableStream<Uint8Array>,
  translation: StreamTranslation,
): Promise<ReadableStream<Uint8Array>> {
  const encode = (events: readonly TypedEvent[]) => (events.length > 0 ? encodeTypedEvents(events) : null)
  function end(): Uint8Array {
    const events = encodeTypedEvents(translation.end())
    const { omitted } = translation.read()
    // The headers have been sent.
    return omitted.length > 0
      ? joinBytes([encoder.encode(`: x-proxy-omitted: ${omitted.join(', ')}\n\n`), events])
      : events
  }
  return translateEvents(upstream, {
    push(event) {
      const events = translation.push(event)
      if (!translation.isDone) return encode(events)
      return joinBytes([encodeTypedEvents(events), end()])
    },
    get isDone() {
      return translation.isDone
    },
    end,
    fail: error => encodeTypedEvents(translation.breakOff(error)),
  }).catch(error => {
    const { usage, body } = translation.read()
    throw withUsage(error, formatOf('chat').readUsage(usage, body))
  })
}

const encoder = new TextEncoder()

export interface PlainAnswer {
  parts: readonly Uint8Array[]
  translated: TranslationContext
}

const TRANSLATE = new Job<PlainAnswer, PlainReading>(new URL('../jobs.ts', import.meta.url), 'translateAnswer')

/** Reads a chat provider's plain response, and translates it. */
export async function translatePlain(
  answer: AnswerBytes,
  translated: TranslationContext,
  owner: number,
): Promise<PlainReading> {
  if ('whole' in answer) return translateBytes(answer.whole, translated)
  const { parts, buffers } = answer.gathered
  return offLoop.run(TRANSLATE, { parts, translated }, { owner, transfer: buffers })
}

/** A failure is not translated: its reading says what the client gets. */
export function translateBytes(bytes: Uint8Array, translated: TranslationContext): PlainReading {
  const { wanted } = translated
  const format = formatOf('chat')
  const read = readPlainBody(bytes, () => format.createAssembler(wanted))
  const reading = judge(format, read, wanted)
  if (!read || reading.failure) return { ...reading, bytes }
  const { body, source } = translationOf(translated).fromAnswer(read.body)
  return { ...reading, ...source, id: body.id ?? null, bytes: encode(body) }
}
