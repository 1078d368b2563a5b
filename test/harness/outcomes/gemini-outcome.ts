/** Reads Gemini's responses as Google's SDKs do. */
import { parseJson, readEvents } from './events.ts'
import { canonicalArguments, emptyOutcome, type Outcome } from './outcome.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the response holds
type Json = any

const ENDS: Record<string, string> = { STOP: 'stop', MAX_TOKENS: 'length', SAFETY: 'filter' }
const MALFORMED = /^Malformed function call: (\w+)\((.*)\)$/

export function readGeminiPlain(body: Json): Outcome {
  const outcome = emptyOutcome()
  if (body?.error) return { ...outcome, end: 'error' }
  addResponse(outcome, body)
  return outcome
}

export function readGeminiStream(text: string): Outcome {
  const outcome = emptyOutcome()
  // Older SDKs read nothing but data and blank lines.
  if (text.split('\r\n').some(line => line !== '' && !line.startsWith('data: ')))
    outcome.problems.push('a line is no data')
  for (const { data } of readEvents(text)) {
    const chunk: Json = parseJson(data)
    if (outcome.end !== 'none') outcome.problems.push('a chunk follows the end')
    if (chunk?.error) outcome.end = 'error'
    else addResponse(outcome, chunk)
  }
  return outcome
}

function addResponse(outcome: Outcome, response: Json): void {
  const { problems } = outcome
  if (!Array.isArray(response?.candidates) || response.candidates.length !== 1)
    return void problems.push('no candidate')
  const [{ content, finishReason, finishMessage, index }] = response.candidates
  // The SDK discards a turn with a chunk without parts.
  if (content?.role !== 'model' || !Array.isArray(content.parts)) problems.push('no content')
  if (index !== 0) problems.push('no index')
  if (typeof response.modelVersion !== 'string' || typeof response.responseId !== 'string') problems.push('no names')
  for (const part of content?.parts ?? []) addPart(outcome, part)
  for (const line of finishMessage?.split('\n') ?? []) {
    const [match, name = '', args = ''] = MALFORMED.exec(line) ?? []
    if (match !== undefined) outcome.calls.push([name, canonicalArguments(args)])
  }
  if (finishReason === undefined) return
  const end = finishReason === 'MALFORMED_FUNCTION_CALL' ? 'tools' : (ENDS[finishReason] ?? `unknown: ${finishReason}`)
  outcome.end = end === 'stop' && outcome.calls.length > 0 ? 'tools' : end
}

function addPart(outcome: Outcome, { text, thought, functionCall }: Json): void {
  if (thought === true) outcome.reasoning += text
  else if (text !== undefined) outcome.text += text
  if (functionCall === undefined) return
  const { name, args } = functionCall
  if (typeof args !== 'object' || args === null || Array.isArray(args)) outcome.problems.push('args are no object')
  outcome.calls.push([name, canonicalArguments(args)])
}
