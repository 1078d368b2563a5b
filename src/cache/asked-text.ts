/** The one text by which a request may be matched semantically, taken apart from its context. */
import { isJsonObject, type JsonObject } from '../json/json-object.ts'

/** Longer texts are documents rather than questions: they match exactly or not at all. */
const MAX_TEXT_LENGTH = 16_000

export interface AskedText {
  text: string
  /** The body with the text taken out. */
  contextBody: JsonObject
}

/** The last message's text where that message is a user's; null where the request can only be matched exactly. */
export function takeAskedText(endpoint: string, body: JsonObject): AskedText | null {
  const asked = endpoint === 'chat' ? takeFromMessages(body) : takeFromPrompt(body)
  if (!asked) return null
  // PostgreSQL's text holds neither.
  const storable = !asked.text.includes('\0') && asked.text.isWellFormed()
  return storable && asked.text.trim() !== '' && asked.text.length <= MAX_TEXT_LENGTH ? asked : null
}

function takeFromMessages(body: JsonObject): AskedText | null {
  if (!Array.isArray(body.messages)) return null
  const last: unknown = body.messages.at(-1)
  if (!isJsonObject(last) || last.role !== 'user') return null
  const taken = takeContent(last.content)
  if (!taken) return null
  const messages = [...body.messages.slice(0, -1), { ...last, content: taken.rest }]
  return { text: taken.text, contextBody: { ...body, messages } }
}

/** A legacy completion's prompt, unless it is to be continued towards a suffix, or given back as part of the answer. */
function takeFromPrompt(body: JsonObject): AskedText | null {
  if (hasSuffix(body.suffix) || body.echo === true || typeof body.prompt !== 'string') return null
  return { text: body.prompt, contextBody: { ...body, prompt: TAKEN } }
}

function hasSuffix(suffix: unknown): boolean {
  return suffix !== undefined && suffix !== null && suffix !== ''
}

/** Marks where the text was; an object, because no content is one. */
const TAKEN = { taken: true }

function takeContent(content: unknown): { text: string; rest: unknown } | null {
  if (typeof content === 'string') return { text: content, rest: TAKEN }
  if (!Array.isArray(content)) return null
  const texts: string[] = []
  const rest = content.map(part => {
    if (!isJsonObject(part) || part.type !== 'text' || typeof part.text !== 'string') return part
    texts.push(part.text)
    return { ...part, text: TAKEN }
  })
  return texts.length > 0 ? { text: texts.join('\n'), rest } : null
}
