/** Responses of OpenAI's Responses API. */

import type { AnswerFormat } from '../answer-format.ts'
import { isBlank, isJsonObject, type JsonObject, objectsOf } from '../json/canonical.ts'
import { encodeTypedEvents, namesEvent, readTypedEvent } from '../sse/sse.ts'
import type { TokenUsage, ToolCalls } from '../token-usage.ts'
import { joinParts } from '../token-usage.ts'
import { readUsage } from '../usage/read-usage.ts'
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
  // It holds the whole response.
  lastEvent: null,
  writeFailure(error, _requestId, last) {
    const sent = last ? readTypedEvent(last)?.sequence_number : undefined
    return encodeTypedEvents([writeErrorEvent(error, typeof sent === 'number' ? sent + 1 : 0)])
  },
  replay: body => encodeTypedEvents(splitResponse(body)),
  completenessOf: completenessOfResponse,
  callsTools: hasCalls,
  hasBegun: ({ output }) => objectsOf(output).some(hasOutput),
  hasEnded: ({ status }) => status !== undefined && status !== 'queued' && status !== 'in_progress',
  readUsage: readResponseUsage,
  textOf,
}

function readResponseUsage(usage: unknown, answer: JsonObject): TokenUsage | null {
  const own = readUsage(usage, answer.service_tier, countCalls(answer))
  const pictures = isJsonObject(answer.tool_usage) ? readUsage(answer.tool_usage.image_gen) : null
  if (!own || !pictures || pictures.promptTokens + pictures.completionTokens === 0) return own
  const model = objectsOf(answer.tools).find(({ type }) => type === 'image_generation')?.model
  const makers = { model: typeof model === 'string' ? model : USUAL_PICTURES, usage: pictures }
  return joinParts(own, [{ model: null, usage: own }, makers])
}

/** What OpenAI makes pictures with, unless a request names another. */
export const USUAL_PICTURES = 'gpt-image-2'

/** A message begins empty, and reasoning may stay so. */
function hasOutput(item: JsonObject): boolean {
  const { type, content, summary } = item
  if (type !== 'message' && type !== 'reasoning') return true
  const parts = [...objectsOf(content), ...objectsOf(summary)]
  return parts.some(({ text, refusal }) => !isBlank(text) || !isBlank(refusal)) || !isBlank(item.encrypted_content)
}

function textOf({ output }: JsonObject): string {
  const items = objectsOf(output)
  const parts = items.flatMap(({ content, summary }) => [...objectsOf(content), ...objectsOf(summary)])
  const texts = [...parts, ...items].flatMap(({ text, refusal, name, arguments: called, input }) => [
    ...[text, refusal],
    ...[name, called, input],
  ])
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
