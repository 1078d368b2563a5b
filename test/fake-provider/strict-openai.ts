/**
 * OpenAI's models that reason, as strict as OpenAI: their tools work only at Responses, and there nothing is stored, so that reasoning must come
 * back encrypted, whole, and before the call or message that followed it. Each calls tools in two steps, and then responds with text.
 */
import { isDeepStrictEqual } from 'node:util'
import { isObject } from './compose.ts'
import type { RecordedRequest } from './recording.ts'
import type { ErrorScenario, JsonObject, Scenario } from './scenario.ts'
import type { Script } from './server.ts'
import { writeResponseEvents } from './write-response.ts'

export const FINAL_TEXT = 'The sky is blue.'

/** The fields that OpenAI's reference lists. */
const FIELDS = new Set(
  `background context_management conversation include input instructions max_output_tokens max_tool_calls metadata model moderation
  parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier
  service_tier store stream stream_options text tool_choice tools top_logprobs truncation user`.split(/\s+/),
)
/** The fields of each kind of input item. */
const ITEM_FIELDS: Readonly<Record<string, readonly string[]>> = {
  message: ['type', 'role', 'content', 'phase'],
  reasoning: ['type', 'id', 'summary', 'encrypted_content'],
  function_call: ['type', 'call_id', 'name', 'arguments'],
  function_call_output: ['type', 'call_id', 'output'],
}
const PARTS: Readonly<Record<string, readonly string[]>> = {
  input_text: ['type', 'text'],
  input_image: ['type', 'image_url', 'detail'],
  input_file: ['type', 'filename', 'file_data', 'file_url'],
  output_text: ['type', 'text'],
}
const MODELS = /^gpt-5\.[46]/

export interface StrictOpenAi {
  script: Script
  /** Forgets what it has encrypted, as another account would not know it. */
  forgetKeys(): void
}

/** `called` replaces the tool, for a client with tools of its own. */
export function createStrictOpenAi(called = { name: 'look', arguments: { at: 'sky' } as JsonObject }): StrictOpenAi {
  /** The reasoning items that were sent, by their encrypted content. */
  const encrypted = new Map<unknown, JsonObject>()
  /** The item that must precede a call, by the call's id. */
  const precedes = new Map<unknown, JsonObject>()
  let serial = 0

  function writeOutput(step: number, body: JsonObject): JsonObject[] {
    const number = ++serial
    const isIncluded = (body.include as string[] | undefined)?.includes('reasoning.encrypted_content')
    const isSummarized = isObject(body.reasoning) && body.reasoning.summary !== undefined
    const think = (part: string, summaries: string[]): JsonObject => {
      const summary = isSummarized ? summaries.map(text => ({ type: 'summary_text', text })) : []
      const item = { id: `rs_${number}${part}`, type: 'reasoning', summary }
      if (!isIncluded) return item
      const sent = { ...item, encrypted_content: `gAAAA${number}${part}` }
      encrypted.set(sent.encrypted_content, sent)
      return sent
    }
    const call = (part: string): JsonObject => {
      const text = JSON.stringify(called.arguments)
      const named = { call_id: `call_${number}${part}`, name: called.name, arguments: text }
      return { id: `fc_${number}${part}`, type: 'function_call', status: 'completed', ...named }
    }
    const say = (text: string, phase: string): JsonObject => {
      const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }]
      return { id: `msg_${number}`, type: 'message', role: 'assistant', status: 'completed', phase, content }
    }
    const first = think('a', ['Where shall I look?', 'First at the sky, “天空”.'])
    if (step >= 2) return [first, say(FINAL_TEXT, 'final_answer')]
    const output =
      step === 0
        ? [first, say('I look.', 'commentary'), call('a'), call('b')]
        : [think('a', []), call('a'), think('b', ['And again.']), call('b')]
    for (const [index, item] of output.entries()) {
      const before = output[index - 1]
      if (item.type === 'function_call' && before?.type === 'reasoning' && isIncluded)
        precedes.set(item.call_id, before)
    }
    return output
  }

  /** Returns the error of the first invalid item. */
  function checkInput(input: unknown): ErrorScenario | null {
    if (!Array.isArray(input)) return typeof input === 'string' ? null : refuse("Invalid type for 'input'.")
    const outputs = new Set(input.filter(({ type }) => type === 'function_call_output').map(item => item.call_id))
    const calls = new Set<unknown>()
    for (const [index, item] of input.entries()) {
      const error = checkItem(item, index, input)
      if (error) return error
      if (item.type === 'function_call') {
        calls.add(item.call_id)
        if (!outputs.has(item.call_id)) return refuse(`No tool output found for function call ${item.call_id}.`)
      }
      if (item.type === 'function_call_output' && !calls.has(item.call_id))
        return refuse(`No tool call found for function call output with call_id ${item.call_id}.`)
    }
    return null
  }

  function checkItem(item: JsonObject, index: number, input: readonly JsonObject[]): ErrorScenario | null {
    const fields = ITEM_FIELDS[String(item.type)]
    const at = `input[${index}]`
    if (!fields) return refuse(`Invalid value: '${item.type}'.`)
    const unknown = Object.keys(item).find(field => !fields.includes(field))
    if (unknown !== undefined) return refuse(`Unknown parameter: '${at}.${unknown}'.`)
    const parts = [item.content, item.output].flatMap(value => (Array.isArray(value) ? (value as JsonObject[]) : []))
    const isOutput = item.role === 'assistant'
    const other = parts.find(
      part =>
        (part.type === 'output_text') !== isOutput ||
        Object.keys(part).some(field => PARTS[String(part.type)]?.includes(field) !== true),
    )
    if (other) return refuse(`Invalid value: '${other.type}' in ${at}.`)
    if (item.type === 'reasoning') return checkReasoning(item, input[index + 1])
    const required = item.type === 'function_call' ? precedes.get(item.call_id) : undefined
    return required && input[index - 1]?.encrypted_content !== required.encrypted_content
      ? refuse(
          `Item '${item.call_id}' of type 'function_call' was provided without its required 'reasoning' item: '${required.id}'.`,
        )
      : null
  }

  function checkReasoning(item: JsonObject, next: JsonObject | undefined): ErrorScenario | null {
    if (item.encrypted_content === undefined) {
      const message = `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false.`
      return { kind: 'error', status: 404, message }
    }
    const sent = encrypted.get(item.encrypted_content)
    if (!isDeepStrictEqual(item, sent)) return refuse('The encrypted content gAAA... could not be verified.')
    const isFollowed = next?.role === 'assistant' || next?.type === 'function_call' || next?.type === 'reasoning'
    return isFollowed
      ? null
      : refuse(`Item '${item.id}' of type 'reasoning' was provided without its required following item.`)
  }

  return {
    script(request) {
      const { path } = request
      const body = request.body as JsonObject
      if (!MODELS.test(String(body?.model))) return undefined
      if (path.endsWith('/chat/completions') && body.tools !== undefined) {
        return refuse(
          `Function tools with reasoning_effort are not supported for ${body.model} in /v1/chat/completions. Please use /v1/responses instead.`,
        )
      }
      if (path.endsWith('/responses/input_tokens')) return checkCount(body)
      if (!path.endsWith('/responses')) return undefined
      return (
        checkFields(body) ?? checkInput(body.input) ?? answer(request, writeOutput(countSteps(body), body), ++serial)
      )
    },
    forgetKeys() {
      encrypted.clear()
      precedes.clear()
    },
  }
}

/** The fields of a request that counts tokens. */
const COUNT_FIELDS = new Set(
  `conversation input instructions model parallel_tool_calls personality previous_response_id reasoning text tool_choice tools
  truncation`.split(/\s+/),
)

function checkCount(body: JsonObject): ErrorScenario | undefined {
  const unknown = Object.keys(body).find(field => !COUNT_FIELDS.has(field))
  return unknown === undefined ? undefined : refuse(`Unknown parameter: '${unknown}'.`)
}

function checkFields(body: JsonObject): ErrorScenario | null {
  const unknown = Object.keys(body).find(field => !FIELDS.has(field) || body[field] === undefined)
  if (unknown !== undefined) return refuse(`Unknown parameter: '${unknown}'.`)
  if (typeof body.max_output_tokens === 'number' && body.max_output_tokens < 16)
    return refuse("Invalid 'max_output_tokens': integer below minimum value.")
  if (typeof body.safety_identifier === 'string' && body.safety_identifier.length > 64)
    return refuse("Invalid 'safety_identifier': string too long.")
  const tools = (body.tools ?? []) as JsonObject[]
  const invalid = tools.find(({ type, name }) => type === 'function' && typeof name !== 'string')
  return invalid ? refuse("Missing required parameter: 'tools[0].name'.") : null
}

/** Counts the steps since the last message of the user: turns that ended with calls. */
function countSteps({ input }: JsonObject): number {
  if (!Array.isArray(input)) return 0
  const items = input.slice(input.findLastIndex(item => item.role === 'user') + 1)
  const isLastOutput = (item: JsonObject, index: number) =>
    item.type === 'function_call_output' && items[index + 1]?.type !== 'function_call_output'
  return items.filter(isLastOutput).length
}

function refuse(message: string): ErrorScenario {
  return { kind: 'error', status: 400, message }
}

function answer({ body }: RecordedRequest, output: JsonObject[], serial: number): Scenario {
  const { stream, model, store } = body as JsonObject
  const usage = {
    input_tokens: 900,
    input_tokens_details: { cached_tokens: 600 },
    output_tokens: 50,
    output_tokens_details: { reasoning_tokens: 30 },
    total_tokens: 950,
  }
  const head = { id: `resp_${serial}`, object: 'response', created_at: 1_760_000_000, status: 'completed', error: null }
  const response = { ...head, incomplete_details: null, model, output, store, usage }
  return stream === true
    ? { kind: 'raw', headers: { 'content-type': 'text/event-stream' }, parts: writeResponseEvents(response) }
    : { kind: 'raw', headers: { 'content-type': 'application/json' }, parts: [JSON.stringify(response)] }
}
