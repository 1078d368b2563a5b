/** Reads chat completions as OpenAI's SDK does. */
import { parseJson, readEvents } from './events.ts'
import { canonicalArguments, emptyOutcome, type Outcome } from './outcome.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the response holds
type Json = any

/** The chat endpoint forwards a provider's finish reason unchanged, so each synonym is accepted here. */
const ENDS: [end: string, words: RegExp][] = [
  ['stop', /^(stop|eos|end_turn|stop_sequence|complete)$/i],
  ['tools', /^(tool_calls|function_call|tool_use)$/i],
  ['length', /^(length|max_tokens|model_length|max_output_tokens|model_context_window_exceeded)$/i],
  [
    'filter',
    /^(content_filter|safety|refusal|sensitive|recitation|blocklist|prohibited_content|spii|guardrail_intervened|content_filtered)$/i,
  ],
]

export function readChatPlain(body: Json): Outcome {
  const outcome = emptyOutcome()
  if (!Array.isArray(body?.choices)) outcome.problems.push('choices is no list')
  const [choice] = body?.choices ?? []
  if (choice === undefined) return { ...outcome, end: body?.error ? 'error' : 'none' }
  addContent(outcome, choice.message ?? {})
  for (const call of [...(choice.message?.tool_calls ?? []), ...legacyCall(choice.message)]) {
    if (typeof call.function?.arguments !== 'string') outcome.problems.push('arguments are no text')
    outcome.calls.push([call.function?.name, canonicalArguments(call.function?.arguments)])
  }
  outcome.end = body.error ? 'error' : endOf(choice.finish_reason)
  return outcome
}

export function readChatStream(text: string): Outcome {
  const outcome = emptyOutcome()
  const calls = new Map<number, { name: string; arguments: string }>()
  for (const { data } of readEvents(text)) {
    if (data === '[DONE]') break
    const chunk: Json = parseJson(data)
    if (typeof chunk !== 'object' || chunk === null) outcome.problems.push(`an event is no chunk: ${data.slice(0, 40)}`)
    else if (chunk.error) outcome.end = 'error'
    else if (!Array.isArray(chunk.choices)) outcome.problems.push(`choices is no list: ${data.slice(0, 40)}`)
    else for (const choice of chunk.choices) addChoice(outcome, calls, choice)
  }
  for (const call of calls.values()) outcome.calls.push([call.name, canonicalArguments(call.arguments)])
  return outcome
}

function addChoice(outcome: Outcome, calls: Map<number, { name: string; arguments: string }>, choice: Json): void {
  const delta = choice.delta ?? {}
  addContent(outcome, delta)
  for (const fragment of [...(delta.tool_calls ?? []), ...legacyCall(delta)]) {
    if (typeof fragment.index !== 'number') outcome.problems.push('a call has no index')
    const call = calls.get(fragment.index) ?? { name: '', arguments: '' }
    const { name = '', arguments: args = '' } = fragment.function ?? {}
    if (typeof (args ?? '') !== 'string') outcome.problems.push('arguments are no text')
    calls.set(fragment.index, { name: call.name || (name ?? ''), arguments: call.arguments + (args ?? '') })
  }
  if (choice.finish_reason == null) return
  if (outcome.end === 'error') outcome.problems.push('a finish reason follows an error')
  else outcome.end = endOf(choice.finish_reason)
}

function legacyCall(message: Json): Json[] {
  return message?.function_call ? [{ index: 0, function: message.function_call }] : []
}

function addContent(outcome: Outcome, message: Json): void {
  for (const part of Array.isArray(message.content) ? message.content : [message.content]) {
    if (typeof part === 'string') outcome.text += part
    else if (part?.type === 'thinking') outcome.reasoning += textsOf(part.thinking)
    else outcome.text += part?.text ?? ''
  }
  outcome.refusal += message.refusal ?? ''
  const { reasoning = message.reasoning_content } = message
  if (typeof reasoning === 'string') outcome.reasoning += reasoning
}

function textsOf(value: Json): string {
  return Array.isArray(value) ? value.map(part => part?.text ?? '').join('') : String(value ?? '')
}

function endOf(reason: Json): string {
  if (reason == null) return 'none'
  return ENDS.find(([, words]) => words.test(reason))?.[0] ?? `unknown: ${reason}`
}
