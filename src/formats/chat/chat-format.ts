/** Defines the API formats of OpenAI's chat and legacy completions, and how chat responses are read for translation. */
import type { ApiFormat } from '../api-format.ts'
import { type ExpectedOutput, readExpectedChatOutput, readExpectedCompletionOutput } from '../expected-output.ts'
import { asObjects, asString, isEmpty, isJsonObject, type JsonObject } from '../json/canonical.ts'
import { findUsage } from '../usage/merge-usage.ts'
import { readUsage } from '../usage/read-usage.ts'
import { createChatAssembler } from './assemble-chat.ts'
import { classifyFinishReason, completenessOf, hasToolCalls } from './completeness.ts'
import { readReasoningText, textOfContent } from './content-parts.ts'
import { firstChoiceOf, PartReader, type SourceFormat, toChunks } from './part-reader.ts'
import { encodeSseStream, splitChatResponse } from './split-chat-response.ts'
import { normalizeToolCalls } from './tool-calls.ts'

const encoder = new TextEncoder()
const DONE = Buffer.from('[DONE]')
/** A closing event is short; `[DONE]` inside a longer event belongs to the response. */
const MAX_DONE_BYTES = 64

function createFormat(readExpectedOutput: (request: JsonObject) => ExpectedOutput): ApiFormat {
  return {
    readExpectedOutput,
    createAssembler: createChatAssembler,
    isLastEvent(event) {
      if (event.length > MAX_DONE_BYTES) return false
      const bytes = Buffer.from(event.buffer, event.byteOffset, event.byteLength)
      // raw text: the end of a stream is no JSON.
      return bytes.includes(DONE) && /^data: ?\s*\[DONE\]\s*$/m.test(bytes.toString('latin1'))
    },
    lastEvent: encoder.encode('data: [DONE]\n\n'),
    normalize: ({ choices }) => normalizeToolCalls(asObjects(choices).flatMap(callsOf)),
    writeFailure: error => encoder.encode(`data: ${JSON.stringify(error.toBody())}\n\n`),
    replay: (body, includeUsage) => encodeSseStream(splitChatResponse(body, { includeUsage })),
    completenessOf,
    hasToolCalls,
    hasOutput,
    isFinished,
    readUsage: (usage, response) => readUsage(usage ?? findUsage(response), response.service_tier),
    extractText,
  }
}

export const chatFormat = createFormat(readExpectedChatOutput)
export const completionsFormat = createFormat(readExpectedCompletionOutput)

/** Reads chat responses for translation into another format. */
export const chatSource: SourceFormat = {
  endpoint: 'chat',
  createReader: writer => new PartReader(writer),
  createAssembler: createChatAssembler,
  isLast: data => data.trim() === '[DONE]',
  toChunks,
  completenessOf,
  finishKindOf: response => classifyFinishReason(asString(firstChoiceOf(response)?.finish_reason)),
}

function callsOf({ message }: JsonObject): JsonObject[] {
  return isJsonObject(message) ? asObjects(message.tool_calls) : []
}

function isFinished({ choices }: JsonObject): boolean {
  const all = Array.isArray(choices) ? choices : []
  return all.length > 0 && all.every(choice => isJsonObject(choice) && typeof choice.finish_reason === 'string')
}

/** Whether any choice has a field besides its role. The field may have any name. */
function hasOutput({ choices }: JsonObject): boolean {
  return asObjects(choices).some(({ message, text }) =>
    isJsonObject(message)
      ? Object.keys(message).some(field => field !== 'role' && !isEmpty(message[field]))
      : asString(text) !== '',
  )
}

function extractText({ choices }: JsonObject): string {
  const texts = asObjects(choices).flatMap(({ message, text }) =>
    isJsonObject(message) ? listMessageTexts(message) : [text],
  )
  return texts.filter(text => typeof text === 'string' && text !== '').join('\n')
}

function listMessageTexts(message: JsonObject): unknown[] {
  const { content, refusal, tool_calls: calls, function_call: legacy } = message
  const calledFunctions = [...asObjects(calls).map(call => call.function ?? call.custom), legacy].filter(isJsonObject)
  const callTexts = calledFunctions.flatMap(({ name, arguments: given, input }) => [name, given ?? input])
  return [readReasoningText(message), textOfContent(content), refusal, ...callTexts]
}
