/** Responses of OpenAI's chat and legacy completions. */

import type { AnswerFormat } from '../answer-format.ts'
import { isJsonObject, type JsonObject } from '../json/canonical.ts'
import { readUsage } from '../token-usage.ts'
import { type Wanted, wantedOfChat, wantedOfCompletions } from '../wanted.ts'
import { createAssembler } from './assemble-chat.ts'
import { completenessOf, hasToolCalls } from './completeness.ts'
import { encodeSse, splitAnswer } from './split-chat.ts'

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
      return bytes.includes(DONE) && /^data: ?\s*\[DONE\]\s*$/m.test(bytes.toString('latin1'))
    },
    writeFailure: error => encoder.encode(`data: ${JSON.stringify(error.toBody())}\n\n`),
    replay: (body, includeUsage) => encodeSse(splitAnswer(body, { includeUsage })),
    completenessOf,
    callsTools: hasToolCalls,
    hasEnded,
    readUsage: (usage, answer) => readUsage(usage, answer.service_tier),
    textOf,
  }
}

export const chatFormat = createFormat(wantedOfChat)
export const completionsFormat = createFormat(wantedOfCompletions)

function hasEnded({ choices }: JsonObject): boolean {
  const all = Array.isArray(choices) ? choices : []
  return all.length > 0 && all.every(choice => isJsonObject(choice) && typeof choice.finish_reason === 'string')
}

function textOf(answer: JsonObject): string {
  const choices: unknown[] = Array.isArray(answer.choices) ? answer.choices : []
  return choices
    .map(choice =>
      isJsonObject(choice) ? (isJsonObject(choice.message) ? choice.message.content : choice.text) : undefined,
    )
    .filter(text => typeof text === 'string')
    .join('\n')
}
