/** Responses of OpenAI's Responses API. */

import { readUsage, type TokenUsage, type ToolCalls } from '../../catalogue/catalogue.ts'
import { isJsonObject, type JsonObject } from '../../json/canonical.ts'
import type { AnswerFormat } from '../answer-format.ts'
import { encodeTypedEvents, namesEvent, readTypedEvent } from '../sse/sse.ts'
import { completenessOfResponse, createResponseAssembler, hasCalls } from './assemble-response.ts'
import { containerGigabytes } from './plan-responses.ts'
import { writeErrorEvent } from './response-events.ts'
import { splitResponse } from './split-response.ts'

const LAST_EVENTS = ['response.completed', 'response.incomplete', 'response.failed']

const optionsOf = (request: JsonObject) => ({ clientSetOutputLimit: typeof request.max_output_tokens === 'number' })

export const responsesFormat: AnswerFormat = {
  createAssembler: request => createResponseAssembler(optionsOf(request)),
  isLastEvent: event => namesEvent(event, LAST_EVENTS),
  writeFailure(error, _requestId, last) {
    const sent = last ? readTypedEvent(last)?.sequence_number : undefined
    return encodeTypedEvents([writeErrorEvent(error, typeof sent === 'number' ? sent + 1 : 0)])
  },
  replay: body => encodeTypedEvents(splitResponse(body)),
  completenessOf: (answer, request) => completenessOfResponse(answer, optionsOf(request)),
  callsTools: hasCalls,
  readUsage: readResponseUsage,
  textOf,
}

/** Maps the Responses API's names for the same counts. */
function readResponseUsage(usage: unknown, answer: JsonObject): TokenUsage | null {
  if (!isJsonObject(usage)) return null
  const { input_tokens: prompt_tokens, output_tokens: completion_tokens, input_tokens_details } = usage
  const chatUsage = {
    ...usage,
    prompt_tokens,
    completion_tokens,
    prompt_tokens_details: input_tokens_details,
    completion_tokens_details: usage.output_tokens_details,
  }
  return readUsage(chatUsage, answer.service_tier, countCalls(answer))
}

function textOf({ output }: JsonObject): string {
  const items = Array.isArray(output) ? output.filter(isJsonObject) : []
  const parts = items.flatMap(({ content }) => (Array.isArray(content) ? content.filter(isJsonObject) : []))
  const texts = [...parts.map(part => part.text), ...items.map(item => item.arguments)]
  return texts.filter(text => typeof text === 'string').join('\n')
}

/** OpenAI's usage does not count them. One container serves all calls that name it. */
function countCalls({ output, tools }: JsonObject): ToolCalls {
  const items = Array.isArray(output) ? output.filter(isJsonObject) : []
  const callsOf = (type: string) => items.filter(item => item.type === type).length
  const named = items.map(
    item => item.container_id ?? (isJsonObject(item.environment) && item.environment.container_id),
  )
  const asked = Array.isArray(tools) ? tools.filter(isJsonObject).map(containerGigabytes) : []
  return {
    search: callsOf('web_search_call'),
    file_search: callsOf('file_search_call'),
    container: new Set(named.filter(id => typeof id === 'string')).size * Math.max(1, ...asked),
  }
}
