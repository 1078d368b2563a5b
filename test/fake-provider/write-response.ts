/** Writes a composed response in the format of OpenAI's Responses: one body, or the events of a stream. */

import { composeResponse, isObject, splitTokens } from './compose.ts'
import type { AnswerScenario, JsonObject } from './scenario.ts'
import type { FakeObjects } from './stored-objects.ts'

const CREATED_SECONDS = 1_760_000_000

/** Converts the request to a chat request, which determines the composed response. */
export function asChatRequest(request: JsonObject): JsonObject {
  const input = Array.isArray(request.input) ? request.input : [{ role: 'user', content: request.input }]
  const messages = input.filter(item => item.role !== undefined)
  const tools = Array.isArray(request.tools)
    ? request.tools.map(tool => ({ type: 'function', function: tool }))
    : undefined
  const format = isObject(request.text) && isObject(request.text.format) ? request.text.format : undefined
  const response_format = format && { type: format.type, json_schema: format }
  const isAnswering = input.at(-1)?.type === 'function_call_output'
  return { messages, tools: isAnswering ? [] : tools, response_format, max_tokens: request.max_output_tokens }
}

export function writeResponse(request: JsonObject, scenario: AnswerScenario, serial: number): JsonObject {
  const { thinkingTokens = 0 } = scenario
  const { choices, promptTokens, completionTokens: written } = composeResponse(asChatRequest(request), scenario)
  const completionTokens = written + thinkingTokens
  const [choice] = choices
  const isCut = choice?.finishReason === 'length'
  const part =
    choice?.refusal != null
      ? { type: 'refusal', refusal: choice.refusal }
      : { type: 'output_text', text: choice?.content ?? '', annotations: [], logprobs: [] }
  const status = isCut ? 'incomplete' : 'completed'
  const message = { id: `msg_${serial}`, type: 'message', role: 'assistant', status, content: [part] }
  const calls = (choice?.toolCalls ?? []).map(({ id, name, arguments: text }, index) => {
    return { id: `fc_${serial}_${index}`, type: 'function_call', status, call_id: id, name, arguments: text }
  })
  const hasMessage = choice?.content != null || choice?.refusal != null
  return {
    id: `resp_fake${serial}`,
    object: 'response',
    created_at: CREATED_SECONDS + serial,
    status,
    completed_at: isCut ? null : CREATED_SECONDS + serial,
    error: null,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    instructions: request.instructions ?? null,
    metadata: request.metadata ?? {},
    model: request.model,
    output: [...(hasMessage ? [message] : []), ...calls],
    parallel_tool_calls: true,
    previous_response_id: request.previous_response_id ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    safety_identifier: request.safety_identifier ?? null,
    store: request.store ?? true,
    ...(request.background === true && { background: true }),
    temperature: 1,
    text: request.text ?? { format: { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_p: 1,
    truncation: 'disabled',
    user: request.user ?? null,
    usage: {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: completionTokens,
      output_tokens_details: { reasoning_tokens: thinkingTokens },
      total_tokens: promptTokens + completionTokens,
      ...scenario.usage,
    },
    ...scenario.fields,
  }
}

/** Writes events as OpenAI streams them, each with its name and its sequence number. */
export function writeResponseEvents(response: JsonObject): string[] {
  const events: JsonObject[] = []
  const write = (type: string, fields: JsonObject) => events.push({ type, sequence_number: events.length, ...fields })
  const begun = {
    ...response,
    status: 'in_progress',
    completed_at: null,
    incomplete_details: null,
    output: [],
    usage: null,
  }
  write('response.created', { response: begun })
  write('response.in_progress', { response: begun })
  for (const [output_index, item] of (response.output as JsonObject[]).entries()) {
    const at = { item_id: item.id, output_index }
    if (item.type === 'function_call') {
      write('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', arguments: '' } })
      for (const delta of splitTokens(String(item.arguments))) {
        write('response.function_call_arguments.delta', { ...at, delta, obfuscation: 'x'.repeat(delta.length) })
      }
      write('response.function_call_arguments.done', { ...at, arguments: item.arguments })
    } else if (item.type === 'reasoning') {
      const { encrypted_content: _encrypted, ...begun } = item
      write('response.output_item.added', { output_index, item: { ...begun, summary: [] } })
      for (const [summary_index, part] of (item.summary as JsonObject[]).entries())
        writeSummary({ ...at, summary_index }, part)
    } else {
      write('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', content: [] } })
      for (const [content_index, part] of ((item.content ?? []) as JsonObject[]).entries())
        writePart({ ...at, content_index }, part)
    }
    write('response.output_item.done', { output_index, item })
  }
  write(`response.${response.status}`, { response })
  return events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

  function writeSummary(at: JsonObject, part: JsonObject): void {
    write('response.reasoning_summary_part.added', { ...at, part: { ...part, text: '' } })
    for (const delta of splitTokens(String(part.text))) write('response.reasoning_summary_text.delta', { ...at, delta })
    write('response.reasoning_summary_text.done', { ...at, text: part.text })
    write('response.reasoning_summary_part.done', { ...at, part })
  }

  function writePart(at: JsonObject, part: JsonObject): void {
    const field = part.type === 'refusal' ? 'refusal' : 'text'
    const kind = part.type === 'refusal' ? 'response.refusal' : 'response.output_text'
    const logprobs = part.type === 'refusal' ? {} : { logprobs: [] }
    write('response.content_part.added', { ...at, part: { ...part, [field]: '' } })
    for (const delta of splitTokens(String(part[field]))) write(`${kind}.delta`, { ...at, delta, ...logprobs })
    write(`${kind}.done`, { ...at, [field]: part[field], ...logprobs })
    write('response.content_part.done', { ...at, part })
  }
}

/** Returns a background response before its end. */
export function unfinishedResponse(response: JsonObject, status: string): JsonObject {
  return { ...response, status, completed_at: null, output: [], usage: null }
}

/** Handles the paths below `/responses/`: token counts, reading a stored response, and deleting one. */
export function writeStored(method: string, path: string, kept: FakeObjects): JsonObject {
  const id = path.split('/responses/')[1] ?? ''
  const made = kept.responses.get(id)
  if (made && method === 'GET')
    return made.timesRead++ === 0 ? unfinishedResponse(made.response, 'in_progress') : made.response
  if (id === 'input_tokens') return { object: 'response.input_tokens', input_tokens: 42 }
  if (method === 'DELETE') return { id, object: 'response', deleted: true }
  if (id.endsWith('/input_items')) {
    const content = [{ type: 'input_text', text: 'stored' }]
    const data = [{ id: 'msg_1', type: 'message', status: 'completed', role: 'user', content }]
    return { object: 'list', data, has_more: false, first_id: 'msg_1', last_id: 'msg_1' }
  }
  return { ...writeResponse({ model: 'fake/small', input: 'stored' }, { kind: 'answer' }, 0), id }
}
