/** Writes a composed response in a vendor's wire format: one plain body, or the chunks of a stream. */

import { type ComposedChoice, type ComposedResponse, splitTokens } from './compose.ts'
import type { AnswerScenario, Flavour, JsonObject } from './scenario.ts'

export interface AnswerContext {
  flavour: Flavour
  request: JsonObject
  scenario: AnswerScenario
  composed: ComposedResponse
  /** The response's number. It makes ids unique. */
  serial: number
}

const CREATED_SECONDS = 1_760_000_000

export function writePlain(context: AnswerContext): JsonObject {
  const { composed, scenario } = context
  const choices = composed.choices.map((choice, index) => ({
    index,
    message: writeMessage(context, choice),
    logprobs: writeLogprobs(context, splitTokens(choice.content ?? '')),
    ...writeEnd(context, choice.finishReason),
  }))
  const usage = scenario.usage === null ? {} : { usage: writeUsage(context) }
  return { ...writeHead(context, 'chat.completion'), choices, ...usage, ...writeOnce(context) }
}

function writeMessage(context: AnswerContext, choice: ComposedChoice): JsonObject {
  const calls = choice.toolCalls.map(({ id, name, arguments: args }, index) => ({
    // Aggregators number the calls of plain responses, too.
    ...(context.flavour === 'aggregator' ? { index } : {}),
    id,
    type: 'function',
    function: { name, arguments: args },
  }))
  return {
    role: 'assistant',
    content: choice.content,
    ...(context.flavour === 'groq' ? {} : { refusal: choice.refusal }),
    ...(choice.reasoning === null ? {} : { reasoning: choice.reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(choice.functionCall === null ? {} : { function_call: choice.functionCall }),
    ...(context.flavour === 'openai' ? { annotations: [] } : {}),
    ...context.scenario.messageFields,
  }
}

/** Returns one object for each chunk, including the usage chunk if the request or the vendor has one. */
export function writeChunks(context: AnswerContext): JsonObject[] {
  const head = writeHead(context, 'chat.completion.chunk')
  const steps = context.composed.choices.map((choice, index) => writeSteps(context, choice, index))
  const longest = Math.max(0, ...steps.map(all => all.length))
  const turns = Array.from({ length: longest }, (_, turn) => steps.flatMap(all => all.slice(turn, turn + 1)))
  const wantsUsage = context.scenario.usage !== null && asksForUsage(context)
  const pending = wantsUsage && context.flavour === 'openai' ? { usage: null } : {}
  const chunks: JsonObject[] = turns.flat().map(choice => ({ ...head, choices: [choice], ...pending }))
  Object.assign(chunks[0] ?? {}, writeOnce(context))
  if (context.flavour === 'groq')
    Object.assign(chunks.at(-1) ?? {}, { x_groq: { ...groqId(context), usage: writeUsage(context) } })
  if (wantsUsage) chunks.push({ ...head, choices: [], usage: writeUsage(context) })
  return chunks
}

/** The aggregator always reports usage; the others do if `stream_options` requests it. */
function asksForUsage({ flavour, request }: AnswerContext): boolean {
  const options = request.stream_options as { include_usage?: boolean } | undefined
  return flavour === 'aggregator' || options?.include_usage === true
}

function writeSteps(context: AnswerContext, choice: ComposedChoice, index: number): JsonObject[] {
  const isAggregator = context.flavour === 'aggregator'
  // Aggregators repeat the role and content in each chunk.
  const constant = isAggregator ? { role: 'assistant', content: '' } : {}
  const opening = { role: 'assistant', content: choice.content === null ? null : '' }
  const step = (delta: JsonObject, tokens: string[] = []) => ({
    index,
    delta: { ...constant, ...delta },
    logprobs: writeLogprobs(context, tokens),
    ...writeEnd(context, null),
  })
  return [
    step({ ...opening, ...(context.flavour === 'openai' ? { refusal: null } : {}), ...context.scenario.messageFields }),
    ...splitTokens(choice.reasoning ?? '').map(token => step({ reasoning: token })),
    ...splitTokens(choice.content ?? '').map(token => step({ content: token }, [token])),
    ...splitTokens(choice.refusal ?? '').map(token => step({ refusal: token })),
    ...choice.toolCalls.flatMap((call, position) => writeCallDeltas(call, position).map(delta => step(delta))),
    ...writeFunctionDeltas(choice.functionCall).map(delta => step(delta)),
    { ...step({}), ...writeEnd(context, choice.finishReason) },
  ]
}

function writeCallDeltas(call: ComposedChoice['toolCalls'][number], index: number): JsonObject[] {
  const opening = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }
  const fragments = cutArguments(call.arguments).map(part => ({ index, function: { arguments: part } }))
  return [opening, ...fragments].map(part => ({ tool_calls: [part] }))
}

function writeFunctionDeltas(call: ComposedChoice['functionCall']): JsonObject[] {
  if (call === null) return []
  const fragments = cutArguments(call.arguments).map(part => ({ function_call: { arguments: part } }))
  return [{ function_call: { name: call.name, arguments: '' } }, ...fragments]
}

function cutArguments(text: string): string[] {
  return text.match(/[\s\S]{1,6}/gu) ?? []
}

function writeHead({ flavour, request, serial }: AnswerContext, object: string): JsonObject {
  const prefix = flavour === 'aggregator' ? 'gen' : 'chatcmpl'
  const head = { id: `${prefix}-fake${serial}`, object, created: CREATED_SECONDS + serial, model: request.model }
  if (flavour === 'aggregator') return { ...head, provider: 'FakeProvider' }
  return { ...head, system_fingerprint: 'fp_fake', ...(flavour === 'openai' ? { service_tier: 'default' } : {}) }
}

function groqId({ serial }: AnswerContext): JsonObject {
  return { id: `req_fake${serial}` }
}

/** Returns fields that a plain body contains once, and a stream in its first chunk. */
function writeOnce(context: AnswerContext): JsonObject {
  return { ...(context.flavour === 'groq' ? { x_groq: groqId(context) } : {}), ...context.scenario.fields }
}

function writeEnd({ flavour }: AnswerContext, finishReason: string | null): JsonObject {
  const native = flavour === 'aggregator' ? { native_finish_reason: finishReason } : {}
  return { finish_reason: finishReason, ...native }
}

export function writeUsage({ flavour, composed, scenario }: AnswerContext): JsonObject {
  const { promptTokens } = composed
  const { thinkingTokens = 0 } = scenario
  const completionTokens = composed.completionTokens + thinkingTokens
  const counted = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: thinkingTokens, audio_tokens: 0 },
  }
  const cost = promptTokens * 1e-6 + completionTokens * 2e-6
  const extras = {
    openai: {},
    aggregator: { cost, is_byok: false, cost_details: { upstream_inference_cost: cost } },
    groq: { queue_time: 0.02, prompt_time: 0.001, completion_time: 0.01, total_time: 0.011 },
  }
  const usage: JsonObject = { ...counted, ...extras[flavour], ...scenario.usage }
  const { prompt_tokens: prompt, completion_tokens: completion } = usage
  // The total is the sum of the scripted counts.
  const isSum = scenario.usage && !('total_tokens' in scenario.usage)
  return isSum && typeof prompt === 'number' && typeof completion === 'number'
    ? { ...usage, total_tokens: prompt + completion }
    : usage
}

export function writeLogprobs({ request }: AnswerContext, tokens: string[]): JsonObject | null {
  if (request.logprobs !== true || tokens.length === 0) return null
  const alternatives = typeof request.top_logprobs === 'number' ? request.top_logprobs : 0
  const content = tokens.map((token, position) => {
    const entry = { token, logprob: -(position % 7) / 10, bytes: [...new TextEncoder().encode(token)] }
    return { ...entry, top_logprobs: Array.from({ length: alternatives }, () => entry) }
  })
  return { content, refusal: null }
}
