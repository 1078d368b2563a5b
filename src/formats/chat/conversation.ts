/** Builds the messages of a chat request from the smaller pieces that other formats divide a conversation into. */

import { isJsonObject, type JsonObject, readField, textOf } from '../json/canonical.ts'
import { placed } from '../own-place.ts'
import type { Carried } from './carried.ts'
import { mergeDelta } from './merge-delta.ts'
import { orderResults } from './order-results.ts'

/** A chat content part: text, image_url, file, input_audio. */
export type Part = JsonObject & { type: string }

export interface CalledFunction {
  id: string
  name: string
  /** JSON text. */
  arguments: string
}

/** `at`: where it stands in the client's request. */
export interface Conversation {
  system(parts: Part[], at: string): void
  user(parts: Part[], at: string): void
  /** Adds text of the assistant. */
  assistant(parts: Part[], at: string, refusal?: string): void
  call(called: CalledFunction, at: string): void
  /**
   * Adds to the assistant's message, and to its calls, what they carried beyond chat's own fields. `answer` tells answers apart, of which
   * each may have carried several pieces; null where that is not known.
   */
  carry(carried: Carried, at: string, answer: string | null): void
  /** Adds a function's result. Its images and files follow in a user message, because a tool message holds only text. */
  result(callId: string, parts: Part[], at: string): void
  /** Returns all messages, each result right behind its call. Call once. */
  finish(): JsonObject[]
}

interface AssistantMessage {
  parts: Part[]
  refusal: string | null
  /** As chat has them. */
  calls: JsonObject[]
  /** Pieces of one answer are merged, as a stream's are. */
  carried: Carried & { answer: string | null }
  /** Of its text, if it has some. */
  at: string
}

export function createConversation(): Conversation {
  const messages: JsonObject[] = []
  /** The assistant message being built. It ends at the next message of another role: chat puts text and calls into one. */
  let open: AssistantMessage | null = null
  const media = new Map<JsonObject, Part[]>()

  function openAssistant(at: string): AssistantMessage {
    open ??= { parts: [], refusal: null, calls: [], carried: { fields: {}, calls: {}, answer: null }, at }
    return open
  }

  function closeAssistant(): void {
    if (open) messages.push(...writeAssistant(open))
    open = null
  }

  function push(role: 'system' | 'user', parts: Part[], at: string): void {
    closeAssistant()
    messages.push(placed({ role, content: writeContent(parts) }, at))
  }

  return {
    system: (parts, at) => push('system', parts, at),
    user: (parts, at) => push('user', parts, at),
    assistant(parts, at, refusal) {
      // Two messages in a row stay separate, unless a call awaits its result: no message may come between those.
      if (open && open.calls.length === 0 && (open.parts.length > 0 || open.refusal !== null)) closeAssistant()
      const message = openAssistant(at)
      if (message.parts.length === 0) message.at = at
      message.parts.push(...parts)
      if (refusal !== undefined) message.refusal = (message.refusal ?? '') + refusal
    },
    call({ id, ...called }, at) {
      openAssistant(at).calls.push(placed({ id, type: 'function', function: called }, at))
    },
    carry({ fields, calls }, at, answer) {
      const known = open?.carried.answer ?? null
      // Another answer is another message, unless a call awaits its result.
      if (known !== null && answer !== null && known !== answer && open?.calls.length === 0) closeAssistant()
      const { carried } = openAssistant(at)
      carried.answer ??= answer
      mergeDelta(carried.fields, fields)
      mergeDelta(carried.calls, calls)
    },
    result(callId, parts, at) {
      closeAssistant()
      const texts = parts.filter(part => part.type === 'text')
      const others = parts.filter(part => part.type !== 'text')
      const message = placed({ role: 'tool', tool_call_id: callId, content: writeContent(texts) }, at)
      messages.push(message)
      if (others.length > 0) media.set(message, others)
    },
    finish() {
      closeAssistant()
      return orderResults(messages, media)
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
    const added = readField(carried.calls, textOf(call.id))
    if (isJsonObject(added)) mergeDelta(call, added)
  }
  return [placed({ ...message, ...carried.fields }, at)]
}

/** A single plain text is written as a string, which every provider accepts. */
function writeContent(parts: Part[]): string | Part[] {
  const [only] = parts
  if (only === undefined) return ''
  const isPlain = parts.length === 1 && only.type === 'text' && Object.keys(only).length === 2
  return isPlain ? textOf(only.text) : parts
}
