/** Defines the API format of OpenAI's Responses API, and how its responses are read for translation. */
import type { ApiFormat } from '../api-format.ts'
import { chunkText } from '../chat/chunk-text.ts'
import type { SourceFormat } from '../chat/part-reader.ts'
import { readExpectedResponseOutput } from '../expected-output.ts'
import { readContainerMemoryGigabytes } from '../hosted-tools.ts'
import { asObjects, asString, isBlank, isJsonObject, type JsonObject } from '../json/canonical.ts'
import { encodeTypedEvents, hasEventName, parseEventData, type TypedEvent } from '../sse/sse.ts'
import { sumUsageParts, type TokenUsage, type ToolCallCounts } from '../token-usage.ts'
import { readUsage } from '../usage/read-usage.ts'
import { completenessOfResponse, createResponseAssembler, hasResponseToolCalls } from './assemble-response.ts'
import { createErrorEvent, LAST_EVENTS, type PartPosition, ResponseEventWriter } from './response-events.ts'
import { ResponsePartReader } from './response-part-reader.ts'

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

/** Splits a response into the events that its provider could have streamed. The last event contains the response unchanged. */
export function splitResponse(response: JsonObject): TypedEvent[] {
  const writer = new ResponseEventWriter()
  const initialResponse = {
    ...response,
    status: 'in_progress',
    completed_at: null,
    error: null,
    incomplete_details: null,
    output: [],
    usage: null,
  }
  writer.write('response.created', { response: initialResponse })
  writer.write('response.in_progress', { response: initialResponse })
  for (const [index, item] of asObjects(response.output).entries()) splitItem(writer, item, index)
  const status = response.status === 'incomplete' || response.status === 'failed' ? response.status : 'completed'
  writer.write(`response.${status}`, { response })
  return writer.drainEvents()
}

/** Items of unknown kinds are sent whole. */
function splitItem(writer: ResponseEventWriter, item: JsonObject, index: number): void {
  writer.write('response.output_item.added', { output_index: index, item: withoutContent(item) })
  const place = { item_id: item.id, output_index: index }
  if (item.type === 'message') splitContent(writer, item, place)
  else if (item.type === 'reasoning') {
    splitSummary(writer, item, place)
    splitContent(writer, item, place)
  } else if (item.type === 'function_call') {
    splitText(writer, 'response.function_call_arguments.delta', item.arguments, place)
    writer.write('response.function_call_arguments.done', { ...place, name: item.name, arguments: item.arguments })
  } else if (item.type === 'custom_tool_call') {
    splitText(writer, 'response.custom_tool_call_input.delta', item.input, place)
    writer.write('response.custom_tool_call_input.done', { ...place, input: item.input })
  }
  writer.write('response.output_item.done', { output_index: index, item })
}

/** Returns the item without content, as its first event contains it. */
function withoutContent(item: JsonObject): JsonObject {
  const status = Object.hasOwn(item, 'status') ? { status: 'in_progress' } : {}
  if (item.type === 'message') return { ...item, ...status, content: [] }
  if (item.type === 'reasoning') {
    const { content, encrypted_content: _proof, ...rest } = item
    return { ...rest, ...status, summary: [], ...(Array.isArray(content) ? { content: [] } : {}) }
  }
  if (item.type === 'function_call') return { ...item, ...status, arguments: '' }
  return item.type === 'custom_tool_call' ? { ...item, ...status, input: '' } : item
}

function splitContent(writer: ResponseEventWriter, { content }: JsonObject, item: PartPosition): void {
  for (const [index, part] of asObjects(content).entries()) {
    const place = { ...item, content_index: index }
    const kind = PART_KINDS.get(part.type)
    writer.write('response.content_part.added', { ...place, part: kind ? { ...part, ...kind.empty } : part })
    if (kind?.event === 'response.output_text.delta') splitOutputText(writer, part, place)
    else if (kind) splitText(writer, kind.event, part[kind.field], place)
    writer.closePart(place, part)
  }
}

const PART_KINDS: ReadonlyMap<unknown, { event: string; field: string; empty: JsonObject }> = new Map([
  [
    'output_text',
    { event: 'response.output_text.delta', field: 'text', empty: { text: '', annotations: [], logprobs: [] } },
  ],
  ['refusal', { event: 'response.refusal.delta', field: 'refusal', empty: { refusal: '' } }],
  ['reasoning_text', { event: 'response.reasoning_text.delta', field: 'text', empty: { text: '' } }],
])

/** Writes the text. Log probabilities are sent with their tokens if the tokens add up to the text, else with the last event. */
function splitOutputText(writer: ResponseEventWriter, part: JsonObject, place: PartPosition): void {
  const tokens = asObjects(part.logprobs)
  const tokenText = tokens.map(({ token }) => asString(token)).join('')
  const pieces =
    tokens.length > 0 && tokenText === part.text
      ? tokens.map(token => ({ delta: token.token, logprobs: [token] }))
      : chunkText(asString(part.text)).map(delta => ({ delta, logprobs: [] }))
  for (const piece of pieces) writer.write('response.output_text.delta', { ...place, ...piece })
  const annotations = Array.isArray(part.annotations) ? part.annotations : []
  for (const [index, annotation] of annotations.entries()) {
    writer.write('response.output_text.annotation.added', { ...place, annotation_index: index, annotation })
  }
}

function splitSummary(writer: ResponseEventWriter, { summary }: JsonObject, item: PartPosition): void {
  for (const [index, part] of asObjects(summary).entries()) {
    const place = { ...item, summary_index: index }
    writer.write('response.reasoning_summary_part.added', { ...place, part: { ...part, text: '' } })
    splitText(writer, 'response.reasoning_summary_text.delta', part.text, place)
    writer.closeSummary(place, part)
  }
}

function splitText(writer: ResponseEventWriter, type: string, text: unknown, place: PartPosition): void {
  if (typeof text !== 'string') return
  for (const delta of chunkText(text)) writer.write(type, { ...place, delta })
}
