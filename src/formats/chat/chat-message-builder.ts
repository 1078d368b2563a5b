/** Builds the messages of a chat request from the smaller pieces that other formats divide a conversation into. */

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
  /** JSON text. */
  arguments: string
}

/** `at`: where it stands in the client's request. */
export interface ChatMessageBuilder {
  addSystem(parts: ChatPart[], at: string): void
  addUser(parts: ChatPart[], at: string): void
  /** Adds text of the assistant. */
  addAssistant(parts: ChatPart[], at: string, refusal?: string): void
  addCall(called: FunctionCall, at: string): void
  /**
   * Adds to the assistant's message, and to its calls, what they carried beyond chat's own fields. `answer` tells answers apart, of which
   * each may have carried several pieces; null where that is not known.
   */
  addExtras(carried: ProviderExtras, at: string, answer: string | null): void
  /** Adds a function's result. Its images and files follow in a user message, because a tool message holds only text. */
  addResult(callId: string, parts: ChatPart[], at: string): void
  /** Returns all messages, each result right behind its call. Call once. */
  finish(): JsonObject[]
}

interface AssistantMessage {
  parts: ChatPart[]
  refusal: string | null
  /** As chat has them. */
  calls: JsonObject[]
  /** Pieces of one answer are merged, as a stream's are. */
  carried: ProviderExtras & { answer: string | null }
  /** Of its text, if it has some. */
  at: string
}

export function createChatMessageBuilder(): ChatMessageBuilder {
  const messages: JsonObject[] = []
  /** The assistant message being built. It ends at the next message of another role: chat puts text and calls into one. */
  let open: AssistantMessage | null = null
  const media = new Map<JsonObject, ChatPart[]>()

  function openAssistant(at: string): AssistantMessage {
    open ??= { parts: [], refusal: null, calls: [], carried: { fields: {}, calls: {}, answer: null }, at }
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
      // Two messages in a row stay separate, unless a call awaits its result: no message may come between those.
      if (open && open.calls.length === 0 && (open.parts.length > 0 || open.refusal !== null)) closeAssistant()
      const message = openAssistant(at)
      if (message.parts.length === 0) message.at = at
      message.parts.push(...parts)
      if (refusal !== undefined) message.refusal = (message.refusal ?? '') + refusal
    },
    addCall({ id, ...called }, at) {
      openAssistant(at).calls.push(setSourcePath({ id, type: 'function', function: called }, at))
    },
    addExtras({ fields, calls }, at, answer) {
      const known = open?.carried.answer ?? null
      // Another answer is another message, unless a call awaits its result.
      if (known !== null && answer !== null && known !== answer && open?.calls.length === 0) closeAssistant()
      const { carried } = openAssistant(at)
      carried.answer ??= answer
      mergeDelta(carried.fields, fields)
      mergeDelta(carried.calls, calls)
    },
    addResult(callId, parts, at) {
      closeAssistant()
      const texts = parts.filter(part => part.type === 'text')
      const others = parts.filter(part => part.type !== 'text')
      const message = setSourcePath({ role: 'tool', tool_call_id: callId, content: writeContent(texts) }, at)
      messages.push(message)
      if (others.length > 0) media.set(message, others)
    },
    finish() {
      closeAssistant()
      return orderToolResults(messages, media)
    },
  }
}

function writeAssistant({ parts, refusal, calls, carried, at }: AssistantMessage): JsonObject[] {
  // Reasoning alone is not a message.
  if (parts.length === 0 && refusal === null && calls.length === 0) return []
  const message: JsonObject = { role: 'assistant', content: parts.length === 0 ? null : writeContent(parts) }
  if (refusal !== null) message.refusal = refusal
  if (calls.length > 0) message.tool_calls = calls
  for (const call of calls) {
    const added = readField(carried.calls, asString(call.id))
    if (isJsonObject(added)) mergeDelta(call, added)
  }
  return [setSourcePath({ ...message, ...carried.fields }, at)]
}

/** A single plain text is written as a string, which every provider accepts. */
function writeContent(parts: ChatPart[]): string | ChatPart[] {
  const [only] = parts
  if (only === undefined) return ''
  const isPlain = parts.length === 1 && only.type === 'text' && Object.keys(only).length === 2
  return isPlain ? asString(only.text) : parts
}
