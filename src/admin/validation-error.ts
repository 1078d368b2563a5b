/** Elysia's validation error in our envelope: its own would repeat the body, and so what a client must keep to itself. */
import { invalidRequest, type ProxyError } from '../errors.ts'

/** The part of Elysia's error that is looked at. */
interface Validation {
  /** body, query, params. */
  type?: string
  all?: readonly unknown[]
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
  return invalidRequest(`The ${place} '${field}' is not valid: ${lowerFirst(found.message)}.`, field)
}

function isFinding(value: unknown): value is { path: string; message: string } {
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
