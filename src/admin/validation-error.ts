/** Converts Elysia's validation error to OpenAI's envelope. Elysia's message would repeat the body, which may contain secrets. */
import { invalidRequestError, type ProxyError } from '../errors/errors.ts'

/** The fields of Elysia's error that are used. */
interface Validation {
  /** `body`, `query` or `params`. */
  type?: string
  all?: readonly unknown[]
}

interface FieldError {
  path: string
  message: string
  schema?: { anyOf?: readonly { const?: unknown; minimum?: number; maximum?: number }[] }
}

const PLACES: Record<string, string> = { query: 'query parameter', params: 'part of the path' }

/** Describes the first invalid field and its requirement, but never its value. */
export function describeValidationError(error: unknown): ProxyError {
  const { type = 'body', all = [] }: Validation = typeof error === 'object' && error !== null ? error : {}
  const found = all.find(isFieldError)
  const field = found?.path.split('/').filter(Boolean).join('.') ?? ''
  const place = PLACES[type] ?? 'field'
  if (found === undefined || field === '')
    return invalidRequestError(`The ${type} of your request must be a JSON object.`)
  if (/unexpected property/i.test(found.message)) {
    return invalidRequestError(`The ${place} '${field}' does not exist here.`, field)
  }
  return invalidRequestError(
    `The ${place} '${field}' is not valid: ${lowerFirst(choicesOf(found) ?? found.message)}.`,
    field,
  )
}

/** Describes a choice of words, or a number that may be text. The text is clearer than Elysia's "union value". */
function choicesOf({ schema }: FieldError): string | null {
  const choices = schema?.anyOf
  if (choices === undefined) return null
  const words = choices.flatMap(choice => (typeof choice.const === 'string' ? [choice.const] : []))
  if (words.length === choices.length) return `expected one of ${words.join(', ')}`
  const range = choices.find(choice => choice.minimum !== undefined)
  return range ? `expected a whole number from ${range.minimum} to ${range.maximum}` : null
}

function isFieldError(value: unknown): value is FieldError {
  return (
    typeof value === 'object' &&
    value !== null &&
    'path' in value &&
    typeof value.path === 'string' &&
    'message' in value &&
    typeof value.message === 'string'
  )
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
