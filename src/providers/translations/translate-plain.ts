/** Translates plain chat responses, a long one in a worker. */

import { Job, offLoop } from '../../event-loop/off-loop.ts'
import { isJsonObject, parseJsonObject } from '../../json/json-object.ts'
import type { AnswerBytes } from '../read-bytes.ts'
import { broken } from '../upstream-failure.ts'
import type { Translation, TranslationContext } from './answer-translation.ts'
import { translationOfMessages } from './translate-messages.ts'
import { translationOfResponses } from './translate-responses.ts'

export interface PlainAnswer {
  parts: readonly Uint8Array[]
  translated: TranslationContext
}

/** `fault` says what is wrong with an invalid response. */
export type PlainTranslation = { bytes: Uint8Array } | { fault: string }

const TRANSLATE = new Job<PlainAnswer, PlainTranslation>(new URL('./translate-plain-job.ts', import.meta.url))

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

export function translationOf(translated: TranslationContext): Translation {
  return translated.endpoint === 'responses'
    ? translationOfResponses(translated.context)
    : translationOfMessages(translated.context)
}

export function translateBytes(bytes: Uint8Array, translated: TranslationContext): PlainTranslation {
  const answer = parseJsonObject(new TextDecoder().decode(bytes))
  if (!answer) return { fault: 'gave an answer that is not a JSON object' }
  if (!Array.isArray(answer.choices) && !isJsonObject(answer.error)) return { fault: 'gave an answer without choices' }
  return { bytes: new TextEncoder().encode(JSON.stringify(translationOf(translated).fromAnswer(answer))) }
}
