/** Takes the one text out of a request by which it may be matched semantically; the rest is its context. */
import { LRUCache } from 'lru-cache'
import { isJsonObject, type JsonObject } from '../formats/json/canonical.ts'
import { normalizeRequestBody } from './normalize-request-body.ts'
import { type ContextKind, classifyContext } from './text/context-kind.ts'
import { type NormalizedPrompt, normalizePrompt } from './text/normalize-prompt.ts'

/** Longer texts are documents rather than questions. They get exact matches only. */
const MAX_TEXT_LENGTH = 16_000

interface Asked {
  text: string
  /** The body without the text, in plain spelling. */
  contextBody: JsonObject
}

export interface PromptText extends Asked {
  /** All texts of its message. */
  message: string
}

/** Returns the text that may be worded differently, with its context; null when the request can only be matched exactly. */
export function extractPromptText(endpoint: string, body: JsonObject): PromptText | null {
  const plain = normalizeRequestBody(endpoint, body)
  const asked = plain && takeFromTurns(plain, endpoint === 'responses' ? 'input' : 'messages')
  return asked && isStorable(asked.text) && isStorable(asked.message) ? asked : null
}

/** By the context's hash: conversations and system prompts repeat. */
const contextKinds = new LRUCache<string, ContextKind>({ max: 4_096 })

/** Reads the text as its context allows: unchanged if the context has it worked on, else normalized. */
export function normalizePromptText(
  { text, contextBody }: Asked,
  contextHash: string,
  owner: string,
): NormalizedPrompt {
  const name = `${owner} ${contextHash}`
  let context = contextKinds.get(name)
  if (context === undefined) {
    context = classifyContext(contextBody)
    contextKinds.set(name, context)
  }
  return normalizePrompt(text, context, owner)
}

/** The last text of the last turn, if that is the user's message. */
function takeFromTurns(body: JsonObject, field: 'messages' | 'input'): PromptText | null {
  const turns = body[field]
  const last: unknown = Array.isArray(turns) ? turns.at(-1) : null
  if (!Array.isArray(turns) || !isJsonObject(last) || last.role !== 'user') return null
  if (field === 'input' && last.type !== undefined) return null
  const taken = takeContent(last.content)
  if (!taken) return null
  const { rest, ...said } = taken
  return { ...said, contextBody: { ...body, [field]: [...turns.slice(0, -1), { ...last, content: rest }] } }
}

/** Stands in place of the text; an object, because no content is one. */
const TAKEN = { taken: true }
/** The same, after another text, which may say what to do with this one: it is read as handed over. */
const TAKEN_AFTER_TEXT = { taken: 'the following text' }

/** Null when there is no text. */
function takeContent(content: unknown): { text: string; message: string; rest: unknown } | null {
  if (typeof content === 'string') return { text: content, message: content, rest: TAKEN }
  if (!Array.isArray(content)) return null
  const at = content.findLastIndex(isText)
  const last: unknown = content[at]
  if (!isText(last)) return null
  const rest = content.with(at, { ...last, text: isText(content[at - 1]) ? TAKEN_AFTER_TEXT : TAKEN })
  const message = content.filter(isText).map(part => part.text)
  return { text: last.text, message: message.join('\n'), rest }
}

function isText(part: unknown): part is { text: string } {
  return isJsonObject(part) && part.type === 'text' && typeof part.text === 'string'
}

/** PostgreSQL's text type holds neither a zero character nor a lone surrogate. */
function isStorable(text: string): boolean {
  return text.length <= MAX_TEXT_LENGTH && text.trim() !== '' && !text.includes('\0') && text.isWellFormed()
}
