/** The worker jobs of providers: they process long bodies, and create all responses of the sandbox. */
import type { JobResult } from '../event-loop/worker-pool.ts'
import { completeTurns, omitAllExtras } from '../formats/chat/complete-turns.ts'
import { describeTurn, listToolTurns, type NewTurn, type ToolTurn } from '../formats/chat/tool-turns.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import { parseLosslessJson } from '../formats/json/lossless-json.ts'
import { omitPackedExtras } from '../formats/omit-packed-extras.ts'
import { concatBytes } from '../formats/sse/split-events.ts'
import {
  type ErrorDetails,
  estimateInputTokens,
  restoreClientFieldNames,
  type TranslationContext,
  translateRequest,
} from '../formats/translation.ts'
import { type AnalysisInput, analyzePlainResponse, encodeJson, type PlainResponseAnalysis } from './analyze-response.ts'
import { type LongChatInput, type TranslatedLongChat, translateChatBody } from './anthropic/request/translate-chat.ts'
import { type SetFieldsInput, setFieldsInBytes } from './long-body.ts'
import { encodeSandboxResponse, type SandboxInput, type SandboxResponse } from './sandbox/response.ts'
import type { RequestWithoutExtras, TurnsToComplete } from './translations/complete-turns.ts'
import type {
  RestoreFieldNamesInput,
  TokenCountInput,
  TranslatedLongRequest,
  TranslationInput,
} from './translations/translate-request.ts'
import { type PlainSourceResponse, translateResponseBytes } from './translations/translate-response.ts'

// The sandbox counts the tokens of its responses.
export { prepare } from '../formats/tokens/jobs.ts'

/** Creates the sandbox's response to a request with a test key. */
export function respondInSandboxJob({ bytes, ...target }: SandboxInput): JobResult<SandboxResponse> {
  const output = encodeSandboxResponse(target, JSON.parse(new TextDecoder().decode(bytes)))
  return { output, transfer: [output.bytes.buffer as ArrayBuffer] }
}

/** Translates a chat request into an Anthropic request. */
export function translateForAnthropicJob({ bytes, limits }: LongChatInput): JobResult<TranslatedLongChat> {
  const { body: text, ...rest } = translateChatBody(readObject(bytes), limits)
  const output = new TextEncoder().encode(text)
  return { output: { ...rest, body: output }, transfer: [output.buffer as ArrayBuffer] }
}

/** Translates a request. */
export function translateRequestJob({ endpoint, target, bytes }: TranslationInput): JobResult<TranslatedLongRequest> {
  const { body, context, ...named } = translateRequest(endpoint, readObject(bytes), target)
  const output = encodeJson(body)
  const { messages, input: _input, tools: _tools, response_format: _format, text: _text, ...fields } = body
  const result = {
    bytes: output,
    fields: toPlainJson(fields),
    turns: listToolTurns(messages),
    ...named,
    context: withoutInput(context),
  }
  return { output: result, transfer: [output.buffer as ArrayBuffer] }
}

/** Sets and removes fields of a request. */
export function setFieldsJob({ bytes, changes }: SetFieldsInput): JobResult<Uint8Array> {
  return transferBytes(setFieldsInBytes(bytes, changes))
}

/** Removes the provider extras of earlier responses from a request. */
export function omitPackedExtrasJob({ bytes }: { bytes: Uint8Array }): JobResult<Uint8Array> {
  return transferBytes(encodeJson(omitPackedExtras(readObject(bytes))))
}

/** Rewrites an error about the translated request into an error about the client's request. */
export function restoreFieldNamesJob({
  endpoint,
  target,
  bytes,
  details,
}: RestoreFieldNamesInput): JobResult<ErrorDetails> {
  return { output: restoreClientFieldNames(endpoint, readObject(bytes), target, details) }
}

/** Translates a provider's plain response. */
export function translateResponseJob({ parts, context }: PlainSourceResponse): JobResult<PlainResponseAnalysis> {
  const output = translateResponseBytes(concatBytes(parts), context)
  return { output, transfer: [output.bytes.buffer as ArrayBuffer] }
}

/** Joins and analyzes a plain response. */
export function analyzeResponseJob({
  parts,
  ...input
}: AnalysisInput & { parts: readonly Uint8Array[] }): JobResult<PlainResponseAnalysis> {
  const output = analyzePlainResponse(concatBytes(parts), input)
  return { output, transfer: [output.bytes.buffer as ArrayBuffer] }
}

/** Estimates a request's input tokens. */
export function countRequestTokensJob({ endpoint, bytes }: TokenCountInput): JobResult<JsonObject> {
  return { output: estimateInputTokens(endpoint, readObject(bytes)) }
}

/** Names the turns of a chat request. */
export function listToolTurnsJob({ bytes }: { bytes: Uint8Array }): JobResult<ToolTurn[]> {
  return { output: listToolTurns(readObject(bytes).messages) }
}

/** Prepares the turns of a chat request for its model. */
export function completeTurnsJob({
  bytes,
  turns,
  stored,
  target,
}: TurnsToComplete & { bytes: Uint8Array }): JobResult<Uint8Array> {
  return transferBytes(encodeJson(replaceMessages(bytes, messages => completeTurns(messages, turns, stored, target))))
}

/** Describes a turn that responds to a chat request. */
export function describeTurnJob({
  bytes,
  message,
}: {
  bytes: Uint8Array
  message: JsonObject
}): JobResult<NewTurn | null> {
  return { output: describeTurn(readObject(bytes).messages, message) }
}

/** Removes all provider extras from a chat request. */
export function omitAllExtrasJob({ bytes }: { bytes: Uint8Array }): JobResult<RequestWithoutExtras<Uint8Array> | null> {
  const body = readObject(bytes)
  const without = Array.isArray(body.messages) ? omitAllExtras(body.messages) : null
  if (without === null) return { output: null }
  const { output, transfer } = transferBytes(encodeJson({ ...body, messages: without.messages }))
  return { output: { request: output, names: without.names }, transfer }
}

function replaceMessages(bytes: Uint8Array, replace: (messages: unknown[]) => unknown[]): JsonObject {
  const body = readObject(bytes)
  return Array.isArray(body.messages) ? { ...body, messages: replace(body.messages) } : body
}

function transferBytes(output: Uint8Array): { output: Uint8Array; transfer: ArrayBuffer[] } {
  return { output, transfer: [output.buffer as ArrayBuffer] }
}

function readObject(bytes: Uint8Array): JsonObject {
  return parseLosslessJson(new TextDecoder().decode(bytes)) as JsonObject
}

/** Removes the input from the context: a response repeats the settings of its request, but not the input. */
function withoutInput(translated: TranslationContext): TranslationContext {
  if (translated.endpoint !== 'responses') return translated
  const { input: _input, ...body } = translated.context.body
  return { ...translated, context: { ...translated.context, body: toPlainJson(body) } }
}

/** Returns a copy without lossless number objects, which cannot be cloned between threads. */
function toPlainJson(fields: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(fields))
}
