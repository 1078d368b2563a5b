/** The worker's jobs for providers: long bodies, and all answers of the sandbox. */
import type { JobDone } from '../event-loop/off-loop.ts'
import { dropPacked as withoutPacked } from '../formats/drop-packed.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import { parseExactly } from '../formats/json/exact-json.ts'
import { joinBytes } from '../formats/sse/split-events.ts'
import { countInput, type ErrorDetails, type TranslationContext, tellOwn, translate } from '../formats/translation.ts'
import { type LongChat, type LongTranslatedChat, translateBody } from './anthropic/request/translate-chat.ts'
import { judgePlain, type PlainReading, type ResponseInput } from './read-response.ts'
import { type RenameInput, writeRenamed } from './rename-model.ts'
import { type SandboxAnswer, type SandboxInput, writeAnswer } from './sandbox/answer.ts'
import { type PlainAnswer, translateBytes } from './translations/translate-answer.ts'
import type { LongTranslated, ToCount, ToTell, ToTranslate } from './translations/translate-request.ts'
import { type SetFieldsInput, setFields as setInText } from './vendor-fields.ts'

// The sandbox counts all that it writes.
export { prepare } from '../formats/tokens/jobs.ts'

/** Writes another model into a body. */
export function renameModel({ bytes, name }: RenameInput): JobDone<Uint8Array> {
  const output = writeRenamed(bytes, name)
  return { output, transfer: [output.buffer as ArrayBuffer] }
}

/** Answers a test key. */
export function answerInSandbox({ bytes, ...target }: SandboxInput): JobDone<SandboxAnswer> {
  const output = writeAnswer(target, JSON.parse(new TextDecoder().decode(bytes)))
  return { output, transfer: [output.bytes.buffer as ArrayBuffer] }
}

/** Translates a chat request into an Anthropic request. */
export function translateForAnthropic({ bytes, limits }: LongChat): JobDone<LongTranslatedChat> {
  const { body: text, ...rest } = translateBody(readObject(bytes), limits)
  const output = new TextEncoder().encode(text)
  return { output: { ...rest, body: output }, transfer: [output.buffer as ArrayBuffer] }
}

/** Translates a request to chat completions. */
export function translateRequest({ endpoint, target, bytes }: ToTranslate): JobDone<LongTranslated> {
  const { chatRequest, context, ...named } = translate(endpoint, readObject(bytes), target)
  const output = new TextEncoder().encode(JSON.stringify(chatRequest))
  const { messages: _messages, tools: _tools, response_format: _format, ...fields } = chatRequest
  const result = { bytes: output, fields: plain(fields), ...named, context: withoutInput(context) }
  return { output: result, transfer: [output.buffer as ArrayBuffer] }
}

/** Sets and removes fields of a request. */
export function setFields({ bytes, changes }: SetFieldsInput): JobDone<Uint8Array> {
  const output = new TextEncoder().encode(setInText(new TextDecoder().decode(bytes), changes))
  return { output, transfer: [output.buffer as ArrayBuffer] }
}

/** Takes out of a request what earlier answers carried. */
export function dropPacked({ bytes }: { bytes: Uint8Array }): JobDone<Uint8Array> {
  const output = new TextEncoder().encode(JSON.stringify(withoutPacked(readObject(bytes))))
  return { output, transfer: [output.buffer as ArrayBuffer] }
}

/** Says of a request what an error says of the chat request that it became. */
export function tellOwnRequest({ endpoint, target, bytes, details }: ToTell): JobDone<ErrorDetails> {
  return { output: tellOwn(endpoint, readObject(bytes), target, details) }
}

/** Translates a plain chat response. */
export function translateAnswer({ parts, translated }: PlainAnswer): JobDone<PlainReading> {
  const output = translateBytes(joinBytes(parts), translated)
  return { output, transfer: [output.bytes.buffer as ArrayBuffer] }
}

/** Joins, reads and judges a plain response. */
export function readResponse({
  parts,
  ...input
}: ResponseInput & { parts: readonly Uint8Array[] }): JobDone<PlainReading> {
  const output = judgePlain(joinBytes(parts), input)
  return { output, transfer: [output.bytes.buffer as ArrayBuffer] }
}

/** Counts a request's tokens. */
export function countRequest({ endpoint, bytes }: ToCount): JobDone<JsonObject> {
  return { output: countInput(endpoint, readObject(bytes)) }
}

function readObject(bytes: Uint8Array): JsonObject {
  return parseExactly(new TextDecoder().decode(bytes)) as JsonObject
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
