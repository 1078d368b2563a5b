/** Takes the one text out of a request by which it may be matched semantically; the rest is its context. */
import { LRUCache } from 'lru-cache'
import { takeContent } from '../formats/chat/take-content.ts'
import { isJsonObject, type JsonObject } from '../formats/json/canonical.ts'
import { takeResponsesText } from '../formats/responses/plan-responses.ts'
import { type ContextKind, contextKindOf } from './text/context-kind.ts'
import { type PromptReading, readPrompt } from './text/read-prompt.ts'

/** Longer texts are documents rather than questions. They get exact matches only. */
const MAX_TEXT_LENGTH = 16_000

export interface AskedText {
  text: string
  /** The body without the text. */
  contextBody: JsonObject
}

/** Returns the text that may be worded differently, with its context; null when the request can only be matched exactly. */
export function takeAskedText(endpoint: string, body: JsonObject): AskedText | null {
  const asked = TAKE[endpoint]?.(body) ?? null
  return asked && isStorable(asked.text) ? asked : null
}

/** By the context's hash: conversations and system prompts repeat. */
const contextKinds = new LRUCache<string, ContextKind>({ max: 4_096 })

/** Reads the text as its context allows: unchanged if the context has it worked on, else normalized. */
export function readAsked({ text, contextBody }: AskedText, contextHash: string): PromptReading {
  let context = contextKinds.get(contextHash)
  if (context === undefined) {
    context = contextKindOf(contextBody)
    contextKinds.set(contextHash, context)
  }
  return readPrompt(text, context)
}

/** By operation. A legacy completion continues its text rather than answering it, so a trailing space counts. */
const TAKE: Record<string, (body: JsonObject) => AskedText | null> = {
  chat: takeFromMessages,
  messages: takeFromMessages,
  responses: takeResponsesText,
}

/** The last message's text, if that message is the user's. */
function takeFromMessages(body: JsonObject): AskedText | null {
  if (!Array.isArray(body.messages)) return null
  const last: unknown = body.messages.at(-1)
  if (!isJsonObject(last) || last.role !== 'user') return null
  const taken = takeContent(last.content, 'text')
  if (!taken) return null
  const messages = [...body.messages.slice(0, -1), { ...last, content: taken.rest }]
  return { text: taken.text, contextBody: { ...body, messages } }
}

/** PostgreSQL's text type holds neither a zero character nor a lone surrogate. */
function isStorable(text: string): boolean {
  return text.length <= MAX_TEXT_LENGTH && text.trim() !== '' && !text.includes('\0') && text.isWellFormed()
}
