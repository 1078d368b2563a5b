/** Elysia's validation error in our envelope: its own would repeat the body, and so what a client must keep to itself. */
import { invalidRequest, type ProxyError } from '../errors.ts'

/** The part of Elysia's error that is looked at. */
interface Validation {
  /** body, query, params. */
  type?: string
  all?: readonly unknown[]
}

interface Finding {
  path: string
  message: string
  schema?: { anyOf?: readonly { const?: unknown; minimum?: number; maximum?: number }[] }
}

const PLACES: Record<string, string> = { query: 'query parameter', params: 'part of the path' }

/** Names the first field that is wrong and what it must be, never what it was. */
export function describeValidation(error: unknown): ProxyError {
  const { type = 'body', all = [] }: Validation = typeof error === 'object' && error !== null ? error : {}
  const found = all.find(isFinding)
  const field = found?.path.split('/').filter(Boolean).join('.') ?? ''
  const place = PLACES[type] ?? 'field'
  if (found === undefined || field === '') return invalidRequest(`The ${type} of your request must be a JSON object.`)
  if (/unexpected property/i.test(found.message)) {
    return invalidRequest(`There is no ${place} '${field}' here.`, field)
  }
  return invalidRequest(
    `The ${place} '${field}' is not valid: ${lowerFirst(choicesOf(found) ?? found.message)}.`,
    field,
  )
}

/** A choice that is written out, and a number of a query, which may come as text: said better than "union value". */
function choicesOf({ schema }: Finding): string | null {
  const choices = schema?.anyOf
  if (choices === undefined) return null
  const words = choices.flatMap(choice => (typeof choice.const === 'string' ? [choice.const] : []))
  if (words.length === choices.length) return `expected one of ${words.join(', ')}`
  const range = choices.find(choice => choice.minimum !== undefined)
  return range ? `expected a whole number from ${range.minimum} to ${range.maximum}` : null
}

function isFinding(value: unknown): value is Finding {
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
