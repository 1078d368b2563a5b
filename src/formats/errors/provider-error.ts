/** Reads providers' errors: converts a body in any format, with its status, to a category and a message. */

import { asObjects, asString, isJsonObject, type JsonObject, parseJson } from '../json/canonical.ts'
import { classifyError, classifyErrorCodes, type ErrorCategory } from './error-category.ts'

export interface ProviderError extends Omit<ErrorFields, 'message' | 'codes'> {
  /** Null for an error that fits no category. */
  category: ErrorCategory | null
  /** The provider's status; null for an error within a response. */
  status: number | null
  /** The provider's message, or one with the status if it sent none. */
  message: string
  /** Whether `code` itself expresses a category. */
  hasCategorizedCode: boolean
}

/** Reads an error. `body` is the text of a response or the object of an event. */
export function readProviderError(body: unknown, status: number | null): ProviderError {
  const { message, codes, ...fields } = readErrorFields(body)
  const evidence = { status, codes: codes.map(toLowerCaseWords), counts: fields.counts, message: message ?? '' }
  const category = classifyError(evidence)
  return {
    ...fields,
    message: message ?? describeStatus(status),
    category,
    status,
    hasCategorizedCode: fields.code !== null && classifyErrorCodes([toLowerCaseWords(fields.code)]) !== null,
  }
}

function describeStatus(status: number | null): string {
  if (status === null) return 'The provider ended its response with an error.'
  return `The provider responded with status ${status}.`
}

interface ErrorFields {
  /** Null when the body contains no text. */
  message: string | null
  /** The fields of the error object; null when they are not text. */
  code: string | null
  type: string | null
  param: string | null
  /** Every code, type, status and reason in the body. */
  codes: string[]
  /** The error object's numbers, each after its name in words: `n prompt tokens 5000`. */
  counts: string
}

const MAX_DEPTH = 6
const MAX_ENTRIES = 32
const MAX_VISITS = 2_000
const MAX_CHARS = 8_192
const MAX_PAGE_CHARS = 300
/** Maximum length of text that is parsed. */
const MAX_JSON_CHARS = 1_048_576

const MESSAGE = /(?:message|msg)$/i
/** Names of fields that contain a message, the best first. */
const MESSAGE_NAMES = [MESSAGE, /^(?:error|errors|err|exception|fault)$/i, /(?:detail|details|description)$/i]
const CODE_NAME = /(?:code|type|status|reason|kind)$/i
const CODE = /^[\w.:#-]{2,80}$/

/** Reads the fields of a parsed body or of its text. */
export function readErrorFields(body: unknown): ErrorFields {
  const parsed = typeof body === 'string' ? parseBody(body) : body
  const texts = [...new Set(new TextFinder().find(parsed, MAX_DEPTH))]
  const message = texts.filter(text => !texts.some(other => other !== text && other.includes(text))).join('; ')
  const error = findErrorObject(parsed)
  return {
    message: message === '' ? null : limitLength(message),
    // Anthropic's code, which is more exact than its type, is in the details.
    code: asString(error.code) || asString(isJsonObject(error.details) && error.details.error_code) || null,
    type: asString(error.type) || null,
    param: asString(error.param) || null,
    codes: codesIn(parsed, MAX_DEPTH, { left: MAX_VISITS }),
    counts: Object.entries(error)
      .filter(([name, value]) => typeof value === 'number' && !CODE_NAME.test(name))
      .map(([name, value]) => `${toLowerCaseWords(name)} ${value}`)
      .join('; '),
  }
}

/** Returns the object with the message: the body itself, or one below `error`, `errors` or `detail`, or in a list. */
function findErrorObject(body: unknown, depth = MAX_DEPTH): JsonObject {
  const here = Array.isArray(body) ? body[0] : body
  if (!isJsonObject(here)) return {}
  const inner = [here.error, here.errors, here.detail].find(value =>
    isJsonObject(Array.isArray(value) ? value[0] : value),
  )
  return inner === undefined || depth === 0 ? here : findErrorObject(inner, depth - 1)
}

/** Converts a code such as `exceed_context_size_error` or `ContextWindowExceeded` to lower-case words. */
function toLowerCaseWords(code: string): string {
  return code
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_.:#-]+/g, ' ')
    .toLowerCase()
}

/** Parses a body that is JSON, or an event with JSON data. Returns the text of any other body. */
function parseBody(text: string): unknown {
  const trimmed = text.trim()
  const parsed = parseShort(trimmed.replace(/^(?:event:[^\n]*\n)?data:/, ''))
  return parsed === undefined ? trimmed : parsed
}

function parseShort(text: string): unknown {
  return text.length > MAX_JSON_CHARS ? undefined : parseJson(text)
}

/** Finds the texts of a message: those in the field with the best name, else the shortest readable one. */
class TextFinder {
  #visitsLeft = MAX_VISITS

  find(value: unknown, depth: number): string[] {
    if (depth === 0 || this.#visitsLeft-- <= 0) return []
    if (typeof value === 'string') return this.#findInText(value, depth)
    if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).flatMap(each => this.find(each, depth - 1))
    if (!isJsonObject(value)) return []
    const named = MESSAGE_NAMES.map(names => this.#findNamed(value, names, depth))
    const main = named.find(texts => texts.some(isReadable)) ?? named.find(texts => texts.length > 0)
    const place = Array.isArray(value.loc) ? `${value.loc.join('.')}: ` : ''
    const found = main ?? shortest(this.#findNamed(value, /./, depth))
    return [...found.map(text => place + text), ...this.#findQuotedAndDetails(value, depth)]
  }

  #findNamed(value: JsonObject, names: RegExp, depth: number): string[] {
    const fields = Object.entries(value).filter(([name]) => names.test(name))
    return fields.slice(0, MAX_ENTRIES).flatMap(([, each]) => this.find(each, depth - 1))
  }

  /** Returns the provider's message that an aggregator quotes, and the messages of individual faults. */
  #findQuotedAndDetails(value: JsonObject, depth: number): string[] {
    const quoted = isJsonObject(value.metadata) ? this.find(value.metadata.raw, depth - 1) : []
    const faults = [...asObjects(value.details), ...asObjects(value.errors)].slice(0, MAX_ENTRIES)
    return [...quoted, ...faults.flatMap(fault => this.#findNamed(fault, MESSAGE, depth - 1))]
  }

  /** Returns the text itself, or the message in it if it is JSON or an HTML page. */
  #findInText(value: string, depth: number): string[] {
    const text = value.trim()
    const nested = /^[[{"]/.test(text) ? this.find(parseShort(text), depth - 1) : []
    if (nested.length > 0) return nested
    // raw text: markup is no JSON.
    const shown = /^<(?:!doctype|html|head|body|\?xml)/i.test(text) ? readPage(text.slice(0, MAX_CHARS)) : text
    return shown === '' ? [] : [limitLength(shown)]
  }
}

function shortest(texts: readonly string[]): string[] {
  const readable = texts.filter(isReadable)
  return readable.length === 0 ? [] : [readable.reduce((least, text) => (text.length < least.length ? text : least))]
}

/** Whether a text is a sentence and not a code. */
function isReadable(text: string): boolean {
  return /\S\s+\S|[.!?]$/.test(text)
}

/** Returns the title of an HTML page, else its text. */
function readPage(page: string): string {
  const title = /<(?:title|h1|message)\b[^>]*>([^<]+)/i.exec(page)?.[1]?.trim()
  const withoutCode = page.split(/<\/(?:script|style)>/i).map(part => part.split(/<(?:script|style)\b/i)[0])
  const shown = title || withoutCode.join(' ').replace(/<[^<>]*>/g, ' ')
  return shown.replace(/\s+/g, ' ').trim().slice(0, MAX_PAGE_CHARS)
}

function limitLength(text: string): string {
  return (text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS - 1)}…` : text).toWellFormed()
}

function codesIn(value: unknown, depth: number, visits: { left: number }): string[] {
  if (depth === 0 || visits.left-- <= 0) return []
  if (typeof value === 'string') return /^\s*[[{]/.test(value) ? codesIn(parseShort(value), depth - 1, visits) : []
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).flatMap(each => codesIn(each, depth - 1, visits))
  if (!isJsonObject(value)) return []
  return Object.entries(value)
    .slice(0, MAX_ENTRIES)
    .flatMap(([name, each]) => {
      if (typeof each === 'string' && CODE_NAME.test(name) && CODE.test(each)) return [each]
      // `flagged_input` is OpenRouter's quotation of the flagged text.
      return name === 'flagged_input' && each ? ['content_flagged'] : codesIn(each, depth - 1, visits)
    })
}
