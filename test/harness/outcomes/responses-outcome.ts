/** Reads Responses as OpenAI's SDK does. */
import { parseJson, readEvents } from './events.ts'
import { canonicalArguments, emptyOutcome, type Outcome } from './outcome.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the response holds
type Json = any

const LAST = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error'])

export function readResponsesPlain(body: Json): Outcome {
  const outcome = emptyOutcome()
  if (!Array.isArray(body?.output)) outcome.problems.push('output is no list')
  for (const item of body?.output ?? []) addItem(outcome, item)
  const ids = (body?.output ?? []).filter((item: Json) => item.call_id).map((item: Json) => item.call_id)
  if (new Set(ids).size < ids.length) outcome.problems.push('ids of calls repeat')
  outcome.end = endOf(body, outcome.calls.length)
  return outcome
}

export function readResponsesStream(text: string): Outcome {
  const problems: string[] = []
  const deltas = { text: '', calls: new Map<number, string>() }
  let last: Json = null
  let number = -1
  for (const { name, data } of readEvents(text)) {
    const event: Json = parseJson(data)
    // OpenAI sends both events.
    if (last !== null && !(last.type === 'error' && name === 'response.failed'))
      problems.push(`${name} follows ${last.type}`)
    if (typeof event?.type !== 'string' || (name !== null && event.type !== name)) {
      problems.push(`an event has no type, or another: ${name}`)
      continue
    }
    if (typeof event.sequence_number !== 'number' || event.sequence_number <= number)
      problems.push(`sequence_number of ${event.type}`)
    number = event.sequence_number
    if (event.type === 'response.output_text.delta') deltas.text += event.delta
    if (event.type === 'response.function_call_arguments.delta') {
      deltas.calls.set(event.output_index, (deltas.calls.get(event.output_index) ?? '') + event.delta)
    }
    if (LAST.has(event.type)) last = event
  }
  if (last === null) return { ...emptyOutcome(), text: deltas.text, problems }
  if (last.type === 'error') return { ...emptyOutcome(), text: deltas.text, end: 'error', problems }
  const outcome = readResponsesPlain(last.response)
  if (outcome.end !== 'error') compare(deltas, last.response, outcome, problems)
  if (outcome.end === 'error') outcome.text ||= deltas.text
  if (last.type === 'response.failed') outcome.end = 'error'
  return { ...outcome, problems: [...problems, ...outcome.problems] }
}

/** Compares the joined deltas with the response in the last event. */
function compare(deltas: { text: string; calls: Map<number, string> }, response: Json, outcome: Outcome, to: string[]) {
  if (deltas.text !== outcome.text) to.push(`text in pieces: ${deltas.text}`)
  for (const [index, args] of deltas.calls) {
    if (response.output[index]?.arguments !== args) to.push(`arguments in pieces: ${args}`)
  }
}

function addItem(outcome: Outcome, item: Json): void {
  if (item.type === 'function_call') {
    if (typeof item.arguments !== 'string') outcome.problems.push('arguments are no text')
    outcome.calls.push([item.name, canonicalArguments(item.arguments)])
  }
  for (const part of item.type === 'message' ? item.content : []) {
    outcome.text += part.text ?? ''
    outcome.refusal += part.refusal ?? ''
  }
  if (item.type !== 'reasoning') return
  for (const part of [...(item.content ?? []), ...(item.summary ?? [])]) outcome.reasoning += part.text ?? ''
}

function endOf(body: Json, calls: number): string {
  if (body?.status === 'failed' || body?.error) return 'error'
  if (body?.status === 'completed') return calls > 0 ? 'tools' : 'stop'
  if (body?.status !== 'incomplete') return 'none'
  const reason = body.incomplete_details?.reason
  if (reason === 'max_output_tokens') return 'length'
  return reason === 'content_filter' ? 'filter' : `incomplete: ${reason}`
}
