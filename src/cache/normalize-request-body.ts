/**
 * Normalizes the body of a request where vendors accept equivalent forms, such as a text or a list of one part, or an explicit default.
 * Several texts stay separate, because providers join them in different ways: directly, by a space or by line breaks.
 */
import { isJsonObject, isPresent, type JsonObject } from '../formats/json/canonical.ts'

/** Normalizers by endpoint. Requests of other endpoints have no text that a match may word differently. */
const NORMALIZERS: Record<string, (body: JsonObject) => JsonObject> = {
  chat: normalizeChat,
  messages: normalizeChat,
  generate_content: normalizeChat,
  responses: normalizeResponses,
}

/** Returns the normalized body. Null for an endpoint whose requests are compared unchanged. */
export function normalizeRequestBody(
  endpoint: string,
  { cache_control: marker, ...body }: JsonObject,
): JsonObject | null {
  return NORMALIZERS[endpoint]?.(isCacheMarker(marker) ? body : { ...body, cache_control: marker }) ?? null
}

const CHAT_TEXT: ReadonlySet<unknown> = new Set(['text'])
const RESPONSES_TEXT: ReadonlySet<unknown> = new Set(['input_text', 'output_text', 'text'])

function normalizeChat({ system, messages, ...rest }: JsonObject): JsonObject {
  const systemField = isPresent(system) ? { system: normalizeContent(system, CHAT_TEXT) } : {}
  return { ...rest, ...systemField, messages: normalizeEach(messages, message => normalizeTurn(message, CHAT_TEXT)) }
}

function normalizeResponses({ input, ...rest }: JsonObject): JsonObject {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  return { ...rest, input: normalizeEach(items, normalizeItem) }
}

/** Normalizes an input item. A message may omit its type. */
function normalizeItem(item: JsonObject): JsonObject {
  const { type, ...message } = item
  return normalizeTurn(type === 'message' ? message : item, RESPONSES_TEXT)
}

function normalizeEach(list: unknown, normalize: (each: JsonObject) => JsonObject): unknown {
  return Array.isArray(list) ? list.map(each => (isJsonObject(each) ? normalize(each) : each)) : list
}

/** Normalizes a message or a tool's output. */
function normalizeTurn(turn: JsonObject, texts: ReadonlySet<unknown>): JsonObject {
  const plain = omitDefaults(turn)
  const { content, output } = plain
  return {
    ...plain,
    ...(Array.isArray(content) ? { content: normalizeContent(content, texts) } : {}),
    ...(Array.isArray(output) ? { output: normalizeContent(output, texts) } : {}),
  }
}

function normalizeContent(content: unknown, texts: ReadonlySet<unknown>): unknown {
  const parts = normalizeEach(content, part => normalizePart(part, texts))
  return Array.isArray(parts) && parts.length === 1 && isPlainText(parts[0]) ? parts[0].text : parts
}

function normalizePart(part: JsonObject, texts: ReadonlySet<unknown>): JsonObject {
  const normalized = { ...omitDefaults(part) }
  if (texts.has(part.type)) normalized.type = 'text'
  if (isJsonObject(part.image_url)) normalized.image_url = omitDefaults(part.image_url)
  if (part.type === 'tool_result' && isPresent(part.content)) normalized.content = normalizeContent(part.content, texts)
  return normalized
}

/** Returns whether the part has a text and no other field. */
function isPlainText(part: unknown): part is { text: string } {
  return isJsonObject(part) && part.type === 'text' && typeof part.text === 'string' && Object.keys(part).length === 2
}

const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0
/** Returns whether the value is a marker for the vendor's prompt cache, which changes the price and not the response. */
const isCacheMarker = (value: unknown) => !isPresent(value) || isJsonObject(value)

/** Recognizes field values of messages and parts that are equivalent to an absent field. */
const DEFAULTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  cache_control: isCacheMarker,
  prompt_cache_breakpoint: isCacheMarker,
  detail: value => value === 'auto',
  is_error: value => value === false,
  annotations: isEmpty,
  logprobs: isEmpty,
  citations: value => isEmpty(value) || (isJsonObject(value) && value.enabled === false),
}

/** Returns the object without fields that have their default value. */
function omitDefaults(object: JsonObject): JsonObject {
  if (!Object.keys(object).some(name => isDefault(name, object[name]))) return object
  return Object.fromEntries(Object.entries(object).filter(([name, value]) => !isDefault(name, value)))
}

function isDefault(name: string, value: unknown): boolean {
  return !isPresent(value) || (Object.hasOwn(DEFAULTS, name) && DEFAULTS[name]?.(value) === true)
}
