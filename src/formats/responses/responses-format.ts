/** Responses of OpenAI's Responses API. */

import type { ApiFormat } from '../api-format.ts'
import { readExpectedResponseOutput } from '../expected-output.ts'
import { asObjects, isBlank, isJsonObject, type JsonObject } from '../json/canonical.ts'
import { encodeTypedEvents, hasEventName, parseEventData } from '../sse/sse.ts'
import type { TokenUsage, ToolCallCounts } from '../token-usage.ts'
import { sumUsageParts } from '../token-usage.ts'
import { readUsage } from '../usage/read-usage.ts'
import { completenessOfResponse, createResponseAssembler, hasResponseToolCalls } from './assemble-response.ts'
import { readContainerGigabytes } from './plan-responses.ts'
import { createErrorEvent } from './response-events.ts'
import { splitResponse } from './split-response.ts'

const LAST_EVENTS = ['response.completed', 'response.incomplete', 'response.failed']

export const responsesFormat: ApiFormat = {
  readExpectedOutput: readExpectedResponseOutput,
  createAssembler: createResponseAssembler,
  isLastEvent: event => hasEventName(event, LAST_EVENTS),
  // It holds the whole response.
  lastEvent: null,
  writeFailure(error, _requestId, last) {
    const sent = last ? parseEventData(last)?.sequence_number : undefined
    return encodeTypedEvents([createErrorEvent(error, typeof sent === 'number' ? sent + 1 : 0)])
  },
  replay: body => encodeTypedEvents(splitResponse(body)),
  completenessOf: completenessOfResponse,
  hasToolCalls: hasResponseToolCalls,
  hasOutput: ({ output }) => asObjects(output).some(hasOutput),
  isFinished: ({ status }) => status !== undefined && status !== 'queued' && status !== 'in_progress',
  readUsage: readResponseUsage,
  extractText: textOf,
}

function readResponseUsage(usage: unknown, answer: JsonObject): TokenUsage | null {
  const own = readUsage(usage, answer.service_tier, countCalls(answer))
  const pictures = isJsonObject(answer.tool_usage) ? readUsage(answer.tool_usage.image_gen) : null
  if (!own || !pictures || pictures.promptTokens + pictures.completionTokens === 0) return own
  const model = asObjects(answer.tools).find(({ type }) => type === 'image_generation')?.model
  const makers = { model: typeof model === 'string' ? model : DEFAULT_IMAGE_MODEL, usage: pictures }
  return sumUsageParts(own, [{ model: null, usage: own }, makers])
}

/** What OpenAI makes pictures with, unless a request names another. */
export const DEFAULT_IMAGE_MODEL = 'gpt-image-2'

/** A message begins empty, and reasoning may stay so. */
function hasOutput(item: JsonObject): boolean {
  const { type, content, summary } = item
  if (type !== 'message' && type !== 'reasoning') return true
  const parts = [...asObjects(content), ...asObjects(summary)]
  return parts.some(({ text, refusal }) => !isBlank(text) || !isBlank(refusal)) || !isBlank(item.encrypted_content)
}

function textOf({ output }: JsonObject): string {
  const items = asObjects(output)
  const parts = items.flatMap(({ content, summary }) => [...asObjects(content), ...asObjects(summary)])
  const texts = [...parts, ...items].flatMap(({ text, refusal, name, arguments: called, input }) => [
    ...[text, refusal],
    ...[name, called, input],
  ])
  return texts.filter(text => typeof text === 'string').join('\n')
}

/** OpenAI's usage does not count them. One container serves all calls that name it. */
function countCalls({ output, tools, tool_usage: used }: JsonObject): ToolCallCounts {
  const searches = isJsonObject(used) && isJsonObject(used.web_search) ? used.web_search.num_requests : null
  const items = asObjects(output)
  const callsOf = (type: string) => items.filter(item => item.type === type).length
  const named = items.map(
    item => item.container_id ?? (isJsonObject(item.environment) && item.environment.container_id),
  )
  const asked = asObjects(tools).map(readContainerGigabytes)
  return {
    search: typeof searches === 'number' ? searches : callsOf('web_search_call'),
    file_search: callsOf('file_search_call'),
    container: new Set(named.filter(id => typeof id === 'string')).size * Math.max(1, ...asked),
  }
}
