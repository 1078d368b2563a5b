/** Takes the one text out of a request by which it may be matched semantically; the rest is its context. */
import { LRUCache } from 'lru-cache'
import { isJsonObject, type JsonObject } from '../formats/json/canonical.ts'
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
export function readAsked({ text, contextBody }: AskedText, contextHash: string, owner: string): PromptReading {
  const name = `${owner} ${contextHash}`
  let context = contextKinds.get(name)
  if (context === undefined) {
    context = contextKindOf(contextBody)
    contextKinds.set(name, context)
  }
  return readPrompt(text, context, owner)
}

/** By operation. A legacy completion continues its text rather than answering it, so a trailing space counts. */
const TAKE: Record<string, (body: JsonObject) => AskedText | null> = {
  chat: takeFromMessages,
  messages: takeFromMessages,
  responses: takeFromItems,
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

/** The same of a Responses request: its whole input, or that of a last item which is a user's message. */
function takeFromItems(body: JsonObject): AskedText | null {
  const { input } = body
  if (typeof input === 'string') return { text: input, contextBody: { ...body, input: TAKEN } }
  const last: unknown = Array.isArray(input) ? input.at(-1) : null
  if (!isJsonObject(last) || last.role !== 'user' || (last.type ?? 'message') !== 'message') return null
  const taken = takeContent(last.content, 'input_text')
  if (!taken || !Array.isArray(input)) return null
  const rest = { ...last, content: taken.rest }
  return { text: taken.text, contextBody: { ...body, input: [...input.slice(0, -1), rest] } }
}

/** Stands in place of the text; an object, because no content is one. */
const TAKEN = { taken: true }

/** `type` is that of the parts with text. Null when there is no text. */
function takeContent(content: unknown, type: 'text' | 'input_text'): { text: string; rest: unknown } | null {
  if (typeof content === 'string') return { text: content, rest: TAKEN }
  if (!Array.isArray(content)) return null
  const texts: string[] = []
  const rest = content.map(part => {
    if (!isJsonObject(part) || part.type !== type || typeof part.text !== 'string') return part
    texts.push(part.text)
    return { ...part, text: TAKEN }
  })
  return texts.length > 0 ? { text: texts.join('\n'), rest } : null
}

/** PostgreSQL's text type holds neither a zero character nor a lone surrogate. */
function isStorable(text: string): boolean {
  return text.length <= MAX_TEXT_LENGTH && text.trim() !== '' && !text.includes('\0') && text.isWellFormed()
}
