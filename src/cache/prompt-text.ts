/** Extracts the text of a request that a semantic match may word differently. The rest of the request is its context, and so is the template around a question. */
import { LRUCache } from 'lru-cache'
import { isJsonObject, type JsonObject } from '../formats/json/canonical.ts'
import { normalizeRequestBody } from './normalize-request-body.ts'
import { type ClassifiedContext, classifyContext } from './text/context-kind.ts'
import { findTemplateQuestion } from './text/find-template-question.ts'

/** Longer texts are documents instead of questions. They get exact matches only. */
const MAX_TEXT_LENGTH = 16_000

interface ExtractedText {
  text: string
  /** The normalized body without the text. */
  contextBody: JsonObject
}

export interface PromptText extends ExtractedText {
  /** All texts of the message that contains the text. */
  message: string
  /** The template of an application that surrounds the text. Null without one. */
  template: string | null
}

/** Returns the text with its context. Null when the request can only be matched exactly. */
export function extractPromptText(endpoint: string, body: JsonObject): PromptText | null {
  const normalized = normalizeRequestBody(endpoint, body)
  const prompt = normalized && extractFromTurns(normalized, endpoint === 'responses' ? 'input' : 'messages')
  return prompt && isStorable(prompt.text) && isStorable(prompt.message) ? prompt : null
}

/** Classified contexts by their hash, because conversations and system prompts repeat. */
const contexts = new LRUCache<string, ClassifiedContext>({ max: 4_096 })

/** Classifies the context of a text, by the corrections of its project. */
export function classifyPromptContext(
  { contextBody }: Pick<ExtractedText, 'contextBody'>,
  contextHash: string,
  owner: string,
  corrections: readonly string[] = [],
): ClassifiedContext {
  const name = `${owner} ${contextHash} ${corrections.join()}`
  let context = contexts.get(name)
  if (context === undefined) {
    context = classifyContext(contextBody, corrections)
    contexts.set(name, context)
  }
  return context
}

/** Extracts the last text of the last turn, if that is a user message. */
function extractFromTurns(body: JsonObject, field: 'messages' | 'input'): PromptText | null {
  const turns = body[field]
  const last: unknown = Array.isArray(turns) ? turns.at(-1) : null
  if (!Array.isArray(turns) || !isJsonObject(last) || last.role !== 'user') return null
  if (field === 'input' && last.type !== undefined) return null
  const extracted = extractFromContent(last.content)
  if (!extracted) return null
  const { rest, ...texts } = extracted
  return { ...texts, contextBody: { ...body, [field]: [...turns.slice(0, -1), { ...last, content: rest }] } }
}

/** Replaces the text in the context. It is an object, which no content is. */
const PLACEHOLDER = { taken: true }
/** Replaces a text that follows another text, which may contain instructions for it. */
const PLACEHOLDER_AFTER_TEXT = { taken: 'the following text' }

/** Returns the last text or the question in it, all texts, and the content without it. Null when there is no text. */
function extractFromContent(content: unknown): (Omit<PromptText, 'contextBody'> & { rest: unknown }) | null {
  if (typeof content === 'string') {
    const template = findTemplateQuestion(content)
    if (!template) return { text: content, message: content, rest: PLACEHOLDER, template: null }
    const { question, before, after } = template
    const rest = { template: [before, after] }
    return { text: question, message: content, rest, template: `${before}\n${after}` }
  }
  if (!Array.isArray(content)) return null
  const at = content.findLastIndex(isText)
  const last: unknown = content[at]
  if (!isText(last)) return null
  const rest = content.with(at, { ...last, text: isText(content[at - 1]) ? PLACEHOLDER_AFTER_TEXT : PLACEHOLDER })
  const message = content.filter(isText).map(part => part.text)
  return { text: last.text, message: message.join('\n'), rest, template: null }
}

function isText(part: unknown): part is { text: string } {
  return isJsonObject(part) && part.type === 'text' && typeof part.text === 'string'
}

/** Returns whether PostgreSQL can store the text: it must contain neither a zero character nor a lone surrogate. */
function isStorable(text: string): boolean {
  return text.length <= MAX_TEXT_LENGTH && text.trim() !== '' && !text.includes('\0') && text.isWellFormed()
}
