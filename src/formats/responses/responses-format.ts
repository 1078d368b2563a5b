/** Responses of OpenAI's Responses API. */

import type { AnswerFormat } from '../answer-format.ts'
import { isJsonObject, type JsonObject, objectsOf } from '../json/canonical.ts'
import { encodeTypedEvents, namesEvent, readTypedEvent } from '../sse/sse.ts'
import type { TokenUsage, ToolCalls } from '../token-usage.ts'
import { joinParts, readUsage } from '../token-usage.ts'
import { wantedOfResponses } from '../wanted.ts'
import { completenessOfResponse, createResponseAssembler, hasCalls } from './assemble-response.ts'
import { containerGigabytes } from './plan-responses.ts'
import { writeErrorEvent } from './response-events.ts'
import { splitResponse } from './split-response.ts'

const LAST_EVENTS = ['response.completed', 'response.incomplete', 'response.failed']

export const responsesFormat: AnswerFormat = {
  wantedOf: wantedOfResponses,
  createAssembler: createResponseAssembler,
  isLastEvent: event => namesEvent(event, LAST_EVENTS),
  writeFailure(error, _requestId, last) {
    const sent = last ? readTypedEvent(last)?.sequence_number : undefined
    return encodeTypedEvents([writeErrorEvent(error, typeof sent === 'number' ? sent + 1 : 0)])
  },
  replay: body => encodeTypedEvents(splitResponse(body)),
  completenessOf: completenessOfResponse,
  callsTools: hasCalls,
  hasEnded: ({ status }) => status !== undefined && status !== 'queued' && status !== 'in_progress',
  readUsage: readResponseUsage,
  textOf,
}

function readResponseUsage(usage: unknown, answer: JsonObject): TokenUsage | null {
  const own = readCounts(usage, answer)
  const pictures = isJsonObject(answer.tool_usage) ? readCounts(answer.tool_usage.image_gen, {}) : null
  if (!own || !pictures || pictures.promptTokens + pictures.completionTokens === 0) return own
  const model = objectsOf(answer.tools).find(({ type }) => type === 'image_generation')?.model
  const makers = { model: typeof model === 'string' ? model : USUAL_PICTURES, usage: pictures }
  return joinParts(own, [{ model: null, usage: own }, makers])
}

/** What OpenAI makes pictures with, unless a request names another. */
export const USUAL_PICTURES = 'gpt-image-2'

/** Maps the Responses API's names for the same counts. */
function readCounts(usage: unknown, answer: JsonObject): TokenUsage | null {
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
  const items = objectsOf(output)
  const parts = items.flatMap(({ content }) => objectsOf(content))
  const texts = [...parts.map(part => part.text), ...items.map(item => item.arguments)]
  return texts.filter(text => typeof text === 'string').join('\n')
}

/** OpenAI's usage does not count them. One container serves all calls that name it. */
function countCalls({ output, tools, tool_usage: used }: JsonObject): ToolCalls {
  const searches = isJsonObject(used) && isJsonObject(used.web_search) ? used.web_search.num_requests : null
  const items = objectsOf(output)
  const callsOf = (type: string) => items.filter(item => item.type === type).length
  const named = items.map(
    item => item.container_id ?? (isJsonObject(item.environment) && item.environment.container_id),
  )
  const asked = objectsOf(tools).map(containerGigabytes)
  return {
    search: typeof searches === 'number' ? searches : callsOf('web_search_call'),
    file_search: callsOf('file_search_call'),
    container: new Set(named.filter(id => typeof id === 'string')).size * Math.max(1, ...asked),
  }
}
