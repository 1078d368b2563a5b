/**
 * Writes what is said in a request in one spelling, where vendors take several for the same: a text or a list of one part, a default or
 * nothing. Several texts stay apart: some providers join them by nothing, others by a space or line breaks.
 */
import { isJsonObject, isPresent, type JsonObject } from '../formats/json/canonical.ts'

/** By operation; others have no text that may be worded differently. */
const SPELL: Record<string, (body: JsonObject) => JsonObject> = {
  chat: spellChat,
  messages: spellChat,
  responses: spellResponses,
}

/** Null for an operation whose requests are compared as they are. */
export function normalizeRequestBody(
  endpoint: string,
  { cache_control: mark, ...body }: JsonObject,
): JsonObject | null {
  return SPELL[endpoint]?.(omitsMark(mark) ? body : { ...body, cache_control: mark }) ?? null
}

const CHAT_TEXT: ReadonlySet<unknown> = new Set(['text'])
const RESPONSES_TEXT: ReadonlySet<unknown> = new Set(['input_text', 'output_text', 'text'])

function spellChat({ system, messages, ...rest }: JsonObject): JsonObject {
  const instructed = isPresent(system) ? { system: spellContent(system, CHAT_TEXT) } : {}
  return { ...rest, ...instructed, messages: spellEach(messages, message => spellTurn(message, CHAT_TEXT)) }
}

function spellResponses({ input, ...rest }: JsonObject): JsonObject {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  return { ...rest, input: spellEach(items, spellItem) }
}

/** A message may say that it is one. */
function spellItem(item: JsonObject): JsonObject {
  const { type, ...message } = item
  return spellTurn(type === 'message' ? message : item, RESPONSES_TEXT)
}

function spellEach(list: unknown, spell: (each: JsonObject) => JsonObject): unknown {
  return Array.isArray(list) ? list.map(each => (isJsonObject(each) ? spell(each) : each)) : list
}

/** A message, or a tool's output. */
function spellTurn(turn: JsonObject, texts: ReadonlySet<unknown>): JsonObject {
  const plain = omitDefaults(turn)
  const { content, output } = plain
  return {
    ...plain,
    ...(Array.isArray(content) ? { content: spellContent(content, texts) } : {}),
    ...(Array.isArray(output) ? { output: spellContent(output, texts) } : {}),
  }
}

function spellContent(content: unknown, texts: ReadonlySet<unknown>): unknown {
  const parts = spellEach(content, part => spellPart(part, texts))
  return Array.isArray(parts) && parts.length === 1 && isPlainText(parts[0]) ? parts[0].text : parts
}

function spellPart(part: JsonObject, texts: ReadonlySet<unknown>): JsonObject {
  const spelled = { ...omitDefaults(part) }
  if (texts.has(part.type)) spelled.type = 'text'
  if (isJsonObject(part.image_url)) spelled.image_url = omitDefaults(part.image_url)
  if (part.type === 'tool_result' && isPresent(part.content)) spelled.content = spellContent(part.content, texts)
  return spelled
}

/** Whether it says nothing else. */
function isPlainText(part: unknown): part is { text: string } {
  return isJsonObject(part) && part.type === 'text' && typeof part.text === 'string' && Object.keys(part).length === 2
}

const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0
/** Marks for a vendor's own cache change what is paid, never what is answered. */
const omitsMark = (value: unknown) => !isPresent(value) || isJsonObject(value)

/** The values of fields of messages and parts that mean the same as none. */
const DEFAULTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  cache_control: omitsMark,
  prompt_cache_breakpoint: omitsMark,
  detail: value => value === 'auto',
  is_error: value => value === false,
  annotations: isEmpty,
  logprobs: isEmpty,
  citations: value => isEmpty(value) || (isJsonObject(value) && value.enabled === false),
}

/** Without what says nothing. */
function omitDefaults(object: JsonObject): JsonObject {
  if (!Object.keys(object).some(name => saysNothing(name, object[name]))) return object
  return Object.fromEntries(Object.entries(object).filter(([name, value]) => !saysNothing(name, value)))
}

function saysNothing(name: string, value: unknown): boolean {
  return !isPresent(value) || (Object.hasOwn(DEFAULTS, name) && DEFAULTS[name]?.(value) === true)
}
