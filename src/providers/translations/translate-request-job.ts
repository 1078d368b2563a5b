/** The worker's job that translates a long request to chat completions. */
import type { JobDone } from '../../event-loop/off-loop.ts'
import { type TranslationContext, translate } from '../../formats/translation.ts'
import type { JsonObject } from '../../json/canonical.ts'
import { parseExactly } from '../../json/exact-json.ts'
import type { LongTranslated, ToTranslate } from './translate-request.ts'

export function run({ endpoint, target, bytes }: ToTranslate): JobDone<LongTranslated> {
  const body = parseExactly(new TextDecoder().decode(bytes)) as JsonObject
  const { chatRequest, droppedTools, context } = translate(endpoint, body, target)
  const output = new TextEncoder().encode(JSON.stringify(chatRequest))
  const { messages: _messages, tools: _tools, response_format: _format, ...fields } = chatRequest
  const result = { bytes: output, fields: plain(fields), droppedTools, context: withoutInput(context) }
  return { output: result, transfer: [output.buffer as ArrayBuffer] }
}

/** A response repeats its request's settings, not its input. */
function withoutInput(translated: TranslationContext): TranslationContext {
  if (translated.endpoint !== 'responses') return translated
  const { input: _input, ...body } = translated.context.body
  return { ...translated, context: { ...translated.context, body: plain(body) } }
}

/** Opaque number objects cannot be cloned between threads. */
function plain(fields: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(fields))
}
