/** Builds the messages of a chat request from the smaller pieces that other formats divide a conversation into. */

import type { JsonObject } from '../../json/canonical.ts'

/** A chat content part: text, image_url, file, input_audio. */
export type Part = JsonObject & { type: string }

export interface CalledFunction {
  id: string
  name: string
  /** JSON text. */
  arguments: string
}

export interface Conversation {
  system(parts: Part[]): void
  user(parts: Part[]): void
  /** Adds text of the assistant. */
  assistant(parts: Part[], refusal?: string): void
  call(called: CalledFunction): void
  /** Adds fields to the assistant's message that prove its reasoning to be the model's own. */
  addProof(fields: JsonObject): void
  /** Adds a function's result. Its images and files follow in a user message, because a tool message holds only text. */
  result(callId: string, parts: Part[]): void
  /** Returns all messages. Call once. */
  finish(): JsonObject[]
}

interface AssistantMessage {
  parts: Part[]
  refusal: string | null
  calls: CalledFunction[]
  proof: JsonObject
}

export function createConversation(): Conversation {
  const messages: JsonObject[] = []
  /** The assistant message being built. It ends at the next message of another role: chat puts text and calls into one. */
  let open: AssistantMessage | null = null
  /** Images and files of function results. They are added after the last result in a row. */
  let media: Part[] = []

  function openAssistant(): AssistantMessage {
    pushMedia()
    open ??= { parts: [], refusal: null, calls: [], proof: {} }
    return open
  }

  function closeAssistant(): void {
    if (open) messages.push(...writeAssistant(open))
    open = null
  }

  function pushMedia(): void {
    if (media.length > 0) messages.push({ role: 'user', content: media })
    media = []
  }

  function push(role: 'system' | 'user', parts: Part[]): void {
    closeAssistant()
    pushMedia()
    messages.push({ role, content: writeContent(parts) })
  }

  return {
    system: parts => push('system', parts),
    user: parts => push('user', parts),
    assistant(parts, refusal) {
      // Two messages in a row stay separate, unless a call awaits its result: no message may come between those.
      if (open && open.calls.length === 0 && (open.parts.length > 0 || open.refusal !== null)) closeAssistant()
      const message = openAssistant()
      message.parts.push(...parts)
      if (refusal !== undefined) message.refusal = (message.refusal ?? '') + refusal
    },
    call(called) {
      openAssistant().calls.push(called)
    },
    addProof(fields) {
      const { proof } = openAssistant()
      for (const [name, added] of Object.entries(fields)) {
        const known = proof[name]
        proof[name] = Array.isArray(known) && Array.isArray(added) ? [...known, ...added] : added
      }
    },
    result(callId, parts) {
      closeAssistant()
      const texts = parts.filter(part => part.type === 'text')
      const others = parts.filter(part => part.type !== 'text')
      messages.push({ role: 'tool', tool_call_id: callId, content: writeContent(texts) })
      if (others.length > 0) media.push({ type: 'text', text: `Returned by call ${callId}:` }, ...others)
    },
    finish() {
      closeAssistant()
      pushMedia()
      return messages
    },
  }
}

function writeAssistant({ parts, refusal, calls, proof }: AssistantMessage): JsonObject[] {
  // Reasoning alone is not a message.
  if (parts.length === 0 && refusal === null && calls.length === 0) return []
  const written = calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }))
  const message: JsonObject = { role: 'assistant', content: parts.length === 0 ? null : writeContent(parts) }
  if (refusal !== null) message.refusal = refusal
  if (written.length > 0) message.tool_calls = written
  return [{ ...message, ...proof }]
}

/** A single plain text is written as a string, which every provider accepts. */
function writeContent(parts: Part[]): string | Part[] {
  const [only] = parts
  if (only === undefined) return ''
  const isPlain = parts.length === 1 && only.type === 'text' && Object.keys(only).length === 2
  return isPlain ? String(only.text) : parts
}
