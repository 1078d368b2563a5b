/** Builds the messages of a chat request from the smaller pieces into which other formats divide a conversation. */

import { asString, isJsonObject, type JsonObject, readField } from '../json/canonical.ts'
import { setSourcePath } from '../source-paths.ts'
import { mergeDelta } from './merge-delta.ts'
import { orderToolResults } from './order-tool-results.ts'
import type { ProviderExtras } from './provider-extras.ts'

/** A chat content part: text, image_url, file, input_audio. */
export type ChatPart = JsonObject & { type: string }

export interface FunctionCall {
  id: string
  name: string
  /** The arguments as JSON text. */
  arguments: string
}

/** Collects pieces in the order of the conversation. `at` is the path of a piece in the client's request. */
export interface ChatMessageBuilder {
  addSystem(parts: ChatPart[], at: string): void
  addUser(parts: ChatPart[], at: string): void
  /** Adds text of the assistant. */
  addAssistant(parts: ChatPart[], at: string, refusal?: string): void
  addCall(call: FunctionCall, at: string): void
  /**
   * Adds provider extras to the assistant's message and its calls. `responseId` distinguishes responses, each of which may have several pieces
   * of extras; null if it is not known.
   */
  addExtras(extras: ProviderExtras, at: string, responseId: string | null): void
  /** Adds a function's result. Its images and files follow in a user message, because a tool message can contain only text. */
  addResult(callId: string, parts: ChatPart[], at: string): void
  /** Returns all messages, with each result directly after its call. Call once. */
  finish(): JsonObject[]
}

/** A piece of an assistant's message: text, a tool call in chat's format, or provider extras. */
export type AssistantPiece =
  | { kind: 'text'; parts: ChatPart[]; at: string }
  | { kind: 'call'; call: JsonObject }
  | { kind: 'extras'; fields: JsonObject }

export interface AssistantMessage {
  /** All pieces in the order of the conversation. */
  pieces: AssistantPiece[]
  parts: ChatPart[]
  refusal: string | null
  /** The tool calls in chat's format. */
  calls: JsonObject[]
  /** The provider extras. Pieces of one response are merged like deltas of a stream. */
  extras: ProviderExtras & { responseId: string | null }
  /** The path of its text, if it has text, else of its first piece. */
  at: string
}

/** Settings of a builder for another format that is written from chat messages. */
export interface ChatMessageOptions {
  writeAssistant(message: AssistantMessage): JsonObject[]
  /** Whether a tool message can contain images and files. */
  hasResultMedia: boolean
}

export function createChatMessageBuilder(
  { writeAssistant, hasResultMedia }: ChatMessageOptions = { writeAssistant: writeChatMessage, hasResultMedia: false },
): ChatMessageBuilder {
  const messages: JsonObject[] = []
  /** The assistant message in progress. It ends at the next message of another role, because chat has text and calls in one message. */
  let open: AssistantMessage | null = null
  const media = new Map<JsonObject, ChatPart[]>()

  function openAssistant(at: string): AssistantMessage {
    const extras = { fields: {}, calls: {}, responseId: null }
    open ??= { pieces: [], parts: [], refusal: null, calls: [], extras, at }
    return open
  }

  function closeAssistant(): void {
    if (open) messages.push(...writeAssistant(open))
    open = null
  }

  function push(role: 'system' | 'user', parts: ChatPart[], at: string): void {
    closeAssistant()
    messages.push(setSourcePath({ role, content: writeContent(parts) }, at))
  }

  return {
    addSystem: (parts, at) => push('system', parts, at),
    addUser: (parts, at) => push('user', parts, at),
    addAssistant(parts, at, refusal) {
      // Two messages in a row stay separate, unless a call awaits its result: no message may come between a call and its result.
      const isAnother = open && open.at !== at && (open.parts.length > 0 || open.refusal !== null)
      if (isAnother && open?.calls.length === 0) closeAssistant()
      const message = openAssistant(at)
      if (message.parts.length === 0) message.at = at
      message.parts.push(...parts)
      message.pieces.push({ kind: 'text', parts, at })
      if (refusal !== undefined) message.refusal = (message.refusal ?? '') + refusal
    },
    addCall({ id, ...called }, at) {
      const message = openAssistant(at)
      const call = setSourcePath({ id, type: 'function', function: called }, at)
      message.calls.push(call)
      message.pieces.push({ kind: 'call', call })
    },
    addExtras({ fields, calls }, at, responseId) {
      const known = open?.extras.responseId ?? null
      // Another response is another message, unless a call awaits its result.
      if (known !== null && responseId !== null && known !== responseId && open?.calls.length === 0) closeAssistant()
      const { extras, pieces } = openAssistant(at)
      pieces.push({ kind: 'extras', fields: structuredClone(fields) })
      extras.responseId ??= responseId
      mergeDelta(extras.fields, fields)
      mergeDelta(extras.calls, calls)
    },
    addResult(callId, parts, at) {
      closeAssistant()
      const isContent = ({ type }: ChatPart) => hasResultMedia || type === 'text'
      const texts = parts.filter(isContent)
      const nonTexts = parts.filter(part => !isContent(part))
      const message = setSourcePath({ role: 'tool', tool_call_id: callId, content: writeContent(texts) }, at)
      messages.push(message)
      if (nonTexts.length > 0) media.set(message, nonTexts)
    },
    finish() {
      closeAssistant()
      return orderToolResults(messages, media)
    },
  }
}

function writeChatMessage({ parts, refusal, calls, extras, at }: AssistantMessage): JsonObject[] {
  // Reasoning alone is not a message.
  if (parts.length === 0 && refusal === null && calls.length === 0) return []
  const message: JsonObject = { role: 'assistant', content: parts.length === 0 ? null : writeContent(parts) }
  if (refusal !== null) message.refusal = refusal
  if (calls.length > 0) message.tool_calls = calls
  mergeCallExtras(calls, extras)
  return [setSourcePath({ ...message, ...extras.fields }, at)]
}

/** Adds to each call its extras. */
export function mergeCallExtras(calls: readonly JsonObject[], extras: ProviderExtras): void {
  for (const call of calls) {
    const added = readField(extras.calls, asString(call.id))
    if (isJsonObject(added)) mergeDelta(call, added)
  }
}

/** Returns a single plain text as a string, which every provider accepts. */
function writeContent(parts: ChatPart[]): string | ChatPart[] {
  const [only] = parts
  if (only === undefined) return ''
  const isPlain = parts.length === 1 && only.type === 'text' && Object.keys(only).length === 2
  return isPlain ? asString(only.text) : parts
}
