/** Defines the API format of OpenAI's Responses API, and how its responses are read for translation. */
import type { ApiFormat } from '../api-format.ts'
import type { SourceFormat } from '../chat/part-reader.ts'
import { readExpectedResponseOutput } from '../expected-output.ts'
import { readContainerMemoryGigabytes } from '../hosted-tools.ts'
import { asObjects, asString, isBlank, isJsonObject, type JsonObject } from '../json/canonical.ts'
import { encodeTypedEvents, hasEventName, parseEventData } from '../sse/sse.ts'
import { sumUsageParts, type TokenUsage, type ToolCallCounts } from '../token-usage.ts'
import { readUsage } from '../usage/read-usage.ts'
import { completenessOfResponse, createResponseAssembler, hasResponseToolCalls } from './assemble-response.ts'
import { createErrorEvent, LAST_EVENTS } from './response-events.ts'
import { ResponsePartReader } from './response-part-reader.ts'
import { splitResponse } from './split-response.ts'

export const responsesFormat: ApiFormat = {
  readExpectedOutput: readExpectedResponseOutput,
  createAssembler: createResponseAssembler,
  isLastEvent: event => hasEventName(event, [...LAST_EVENTS]),
  // The last event contains the whole response, so no other event can replace it.
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
  extractText,
}

/** Reads responses for translation into another format. */
export const responsesSource: SourceFormat = {
  endpoint: 'responses',
  createReader: writer => new ResponsePartReader(writer),
  createAssembler: createResponseAssembler,
  isLast: (_data, event) => LAST_EVENTS.has(asString(event?.type)),
  toChunks: response => [{ type: 'response.completed', response }],
  completenessOf: completenessOfResponse,
  finishKindOf: response => (reasonOf(response) === 'max_output_tokens' ? 'length' : 'regular'),
}

function reasonOf({ incomplete_details: details }: JsonObject): unknown {
  return isJsonObject(details) ? details.reason : undefined
}

function readResponseUsage(usage: unknown, response: JsonObject): TokenUsage | null {
  const total = readUsage(usage, response.service_tier, countCalls(response))
  const imageUsage = isJsonObject(response.tool_usage) ? readUsage(response.tool_usage.image_gen) : null
  if (!total || !imageUsage || imageUsage.promptTokens + imageUsage.completionTokens === 0) return total
  const model = asObjects(response.tools).find(({ type }) => type === 'image_generation')?.model
  const imagePart = { model: typeof model === 'string' ? model : DEFAULT_IMAGE_MODEL, usage: imageUsage }
  return sumUsageParts(total, [{ model: null, usage: total }, imagePart])
}

/** The model with which OpenAI generates images, unless a request names another. */
export const DEFAULT_IMAGE_MODEL = 'gpt-image-2'

/** Whether an item is output. A message begins empty, and reasoning may stay empty. */
function hasOutput(item: JsonObject): boolean {
  const { type, content, summary } = item
  if (type !== 'message' && type !== 'reasoning') return true
  const parts = [...asObjects(content), ...asObjects(summary)]
  return parts.some(({ text, refusal }) => !isBlank(text) || !isBlank(refusal)) || !isBlank(item.encrypted_content)
}

function extractText({ output }: JsonObject): string {
  const items = asObjects(output)
  const parts = items.flatMap(({ content, summary }) => [...asObjects(content), ...asObjects(summary)])
  const texts = [...parts, ...items].flatMap(({ text, refusal, name, arguments: called, input }) => [
    ...[text, refusal],
    ...[name, called, input],
  ])
  return texts.filter(text => typeof text === 'string').join('\n')
}

/** Counts calls of hosted tools, which OpenAI's usage does not contain. A container counts once for all its calls. */
function countCalls({ output, tools, tool_usage: used }: JsonObject): ToolCallCounts {
  const searches = isJsonObject(used) && isJsonObject(used.web_search) ? used.web_search.num_requests : null
  const items = asObjects(output)
  const callsOf = (type: string) => items.filter(item => item.type === type).length
  const containerIds = items.map(
    item => item.container_id ?? (isJsonObject(item.environment) && item.environment.container_id),
  )
  const gigabytes = asObjects(tools).map(readContainerMemoryGigabytes)
  return {
    search: typeof searches === 'number' ? searches : callsOf('web_search_call'),
    file_search: callsOf('file_search_call'),
    container: new Set(containerIds.filter(id => typeof id === 'string')).size * Math.max(1, ...gigabytes),
  }
}
