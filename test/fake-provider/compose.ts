/** The response of the fake model. The same request and scenario always give the same response. */

import type { AnswerScenario, JsonObject, ScriptedToolCall } from './scenario.ts'
import { instanceOfSchema } from './schema-instance.ts'

export interface ComposedChoice {
  content: string | null
  refusal: string | null
  reasoning: string | null
  toolCalls: { id: string; name: string; arguments: string }[]
  functionCall: { name: string; arguments: string } | null
  finishReason: string
}

export interface ComposedResponse {
  choices: ComposedChoice[]
  promptTokens: number
  completionTokens: number
}

/** Splits a text into words with the space before them. The fake model counts each as one token. */
export function splitTokens(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? []
}

export function composeResponse(request: JsonObject, scenario: AnswerScenario): ComposedResponse {
  const prompt = readPrompt(request)
  const wanted = typeof request.n === 'number' ? Math.max(1, request.n) : 1
  const count = wanted * countPrompts(request.prompt)
  const choices = Array.from({ length: count }, (_, index) => composeChoice(request, scenario, prompt, index))
  const completionTokens = choices.map(choice => countTokens(choice)).reduce((sum, tokens) => sum + tokens, 0)
  return { choices, promptTokens: Math.max(1, Math.ceil(prompt.length / 4)), completionTokens }
}

/** Returns the text that determines the response: the last user message, or a legacy prompt. */
export function readPrompt(request: JsonObject): string {
  if (!Array.isArray(request.messages)) {
    return typeof request.prompt === 'string' ? request.prompt : JSON.stringify(request.prompt ?? '')
  }
  const last: unknown = request.messages.findLast(message => message?.role === 'user')
  const content = isObject(last) ? last.content : ''
  return typeof content === 'string' ? content : JSON.stringify(content)
}

/** A legacy prompt can be a list of texts or of token lists. Each has its own choice in the response. */
function countPrompts(prompt: unknown): number {
  const isList = Array.isArray(prompt) && prompt.some(item => typeof item !== 'number')
  return isList ? prompt.length : 1
}

export function hashText(text: string): string {
  return Bun.hash(text).toString(16).padStart(16, '0')
}

function composeChoice(request: JsonObject, scenario: AnswerScenario, prompt: string, index: number): ComposedChoice {
  const toolCalls = nameCalls(scenario.toolCalls ?? chooseCalls(request, scenario, prompt), prompt)
  const functionCall = nameCalls(scenario.functionCall ? [scenario.functionCall] : [], prompt)[0] ?? null
  const calls = toolCalls.length > 0 || functionCall !== null || scenario.refusal !== undefined
  const full = composeContent(request, scenario, prompt, index, calls)
  const limit = request.max_completion_tokens ?? request.max_tokens
  const tokens = splitTokens(full ?? '')
  const isCut = typeof limit === 'number' && tokens.length > limit
  return {
    content: isCut ? tokens.slice(0, limit).join('') : full,
    refusal: scenario.refusal ?? null,
    reasoning: scenario.reasoning ?? null,
    toolCalls,
    functionCall,
    finishReason: scenario.finishReason ?? finishReasonOf(toolCalls.length > 0, functionCall !== null, isCut),
  }
}

function finishReasonOf(callsTools: boolean, callsFunction: boolean, isCut: boolean): string {
  if (callsTools) return 'tool_calls'
  if (callsFunction) return 'function_call'
  return isCut ? 'length' : 'stop'
}

function composeContent(
  request: JsonObject,
  scenario: AnswerScenario,
  prompt: string,
  index: number,
  calls: boolean,
): string | null {
  if (scenario.contentChars !== undefined)
    return 'gigantic '.repeat(scenario.contentChars / 9 + 1).slice(0, scenario.contentChars)
  if (scenario.content !== undefined) return scenario.content
  if (calls) return null
  const format = isObject(request.response_format) ? request.response_format : {}
  if (format.type === 'json_object') return JSON.stringify({ answer: hashText(prompt) })
  if (format.type === 'json_schema' && isObject(format.json_schema)) {
    return JSON.stringify(instanceOfSchema(format.json_schema.schema))
  }
  const variant = index === 0 ? '' : ` This is variant ${index}.`
  return `Answer ${hashText(prompt)} to: ${prompt.slice(0, 80)}${variant}\nThe fake provider adds some words, so that a stream has chunks.`
}

function nameOf({ name }: JsonObject): string {
  return typeof name === 'string' ? name : ''
}

/** Calls a tool if the request requires one, or if the user's message contains its name. */
function chooseCalls(request: JsonObject, scenario: AnswerScenario, prompt: string): ScriptedToolCall[] {
  if (scenario.content !== undefined || !Array.isArray(request.tools) || request.tool_choice === 'none') return []
  const functions = request.tools.map(tool => tool?.function).filter(isObject)
  const demanded = isObject(request.tool_choice) ? request.tool_choice.function : undefined
  const name = isObject(demanded) ? demanded.name : undefined
  const named = functions.filter(fn => fn.name === name || prompt.includes(nameOf(fn)))
  const chosen = named.length === 0 && request.tool_choice === 'required' ? functions.slice(0, 1) : named
  return chosen.map(fn => ({ name: nameOf(fn), arguments: instanceOfSchema(fn.parameters) }))
}

function nameCalls(calls: ScriptedToolCall[], prompt: string): ComposedChoice['toolCalls'] {
  return calls.map((call, position) => ({
    id: call.id ?? `call_${hashText(`${prompt}${position}`)}`,
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
  }))
}

function countTokens(choice: ComposedChoice): number {
  const calls = [...choice.toolCalls, ...(choice.functionCall ? [choice.functionCall] : [])]
  const texts = [choice.content, choice.refusal, choice.reasoning, ...calls.map(call => call.arguments)]
  return texts.reduce((sum, text) => sum + splitTokens(text ?? '').length, 0)
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
