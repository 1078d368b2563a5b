/** Responses of OpenAI's chat and legacy completions. */

import type { AnswerFormat } from '../answer-format.ts'
import { isBlank, isJsonObject, type JsonObject, objectsOf, textOf as textIn } from '../json/canonical.ts'
import { findUsage } from '../usage/merge-usage.ts'
import { readUsage } from '../usage/read-usage.ts'
import { type Wanted, wantedOfChat, wantedOfCompletions } from '../wanted.ts'
import { createAssembler } from './assemble-chat.ts'
import { completenessOf, hasToolCalls } from './completeness.ts'
import { textOfContent } from './content-parts.ts'
import { encodeSse, splitAnswer } from './split-chat.ts'
import { readThought } from './thought.ts'
import { normalizeCalls } from './tool-calls.ts'

const encoder = new TextEncoder()
const DONE = Buffer.from('[DONE]')
/** A closing event is short; `[DONE]` inside a longer event belongs to the response. */
const MAX_DONE_BYTES = 64

function createFormat(wantedOf: (request: JsonObject) => Wanted): AnswerFormat {
  return {
    wantedOf,
    createAssembler,
    isLastEvent(event) {
      if (event.length > MAX_DONE_BYTES) return false
      const bytes = Buffer.from(event.buffer, event.byteOffset, event.byteLength)
      // raw text: the end of a stream is no JSON.
      return bytes.includes(DONE) && /^data: ?\s*\[DONE\]\s*$/m.test(bytes.toString('latin1'))
    },
    lastEvent: encoder.encode('data: [DONE]\n\n'),
    normalize: ({ choices }) => normalizeCalls(objectsOf(choices).flatMap(callsOf)),
    writeFailure: error => encoder.encode(`data: ${JSON.stringify(error.toBody())}\n\n`),
    replay: (body, includeUsage) => encodeSse(splitAnswer(body, { includeUsage })),
    completenessOf,
    callsTools: hasToolCalls,
    hasBegun,
    hasEnded,
    readUsage: (usage, answer) => readUsage(usage ?? findUsage(answer), answer.service_tier),
    textOf,
  }
}

export const chatFormat = createFormat(wantedOfChat)
export const completionsFormat = createFormat(wantedOfCompletions)

function callsOf({ message }: JsonObject): JsonObject[] {
  return isJsonObject(message) ? objectsOf(message.tool_calls) : []
}

function hasEnded({ choices }: JsonObject): boolean {
  const all = Array.isArray(choices) ? choices : []
  return all.length > 0 && all.every(choice => isJsonObject(choice) && typeof choice.finish_reason === 'string')
}

/** Whether any choice has more than its speaker. Its part may have any name. */
function hasBegun({ choices }: JsonObject): boolean {
  return objectsOf(choices).some(({ message, text }) =>
    isJsonObject(message)
      ? Object.keys(message).some(field => field !== 'role' && !isEmpty(message[field]))
      : textIn(text) !== '',
  )
}

function isEmpty(value: unknown): boolean {
  return isBlank(value) || (Array.isArray(value) && value.length === 0)
}

function textOf({ choices }: JsonObject): string {
  const texts = objectsOf(choices).flatMap(({ message, text }) => (isJsonObject(message) ? writtenIn(message) : [text]))
  return texts.filter(text => typeof text === 'string' && text !== '').join('\n')
}

function writtenIn(message: JsonObject): unknown[] {
  const { content, refusal, tool_calls: calls, function_call: legacy } = message
  const called = [...objectsOf(calls).map(call => call.function ?? call.custom), legacy].filter(isJsonObject)
  const calledWith = called.flatMap(({ name, arguments: given, input }) => [name, given ?? input])
  return [readThought(message), textOfContent(content), refusal, ...calledWith]
}
