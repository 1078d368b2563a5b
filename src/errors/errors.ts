/** Creates errors: those of the catalogue, with the placeholders in their message, parameter and headers filled. Exports the error classes. */
import { ERROR_CATALOGUE, type ErrorName } from './error-catalogue.ts'
import type { ErrorDefinition } from './error-definition.ts'
import { ProxyError, type ProxyErrorOptions } from './proxy-error.ts'

export {
  ClientDisconnected,
  createUpstreamError,
  deserializeError,
  ProxyError,
  type ProxyErrorOptions,
  type SerializedError,
  serializeError,
  throwIfError,
} from './proxy-error.ts'

type Entry<Name extends ErrorName> = (typeof ERROR_CATALOGUE)[Name]

/** The names of a template's placeholders, which are in braces. */
type Placeholders<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Placeholders<Rest> : never

type EntryPlaceholders<E> =
  | (E extends { message: infer Message } ? Placeholders<Message> : never)
  | (E extends { param: infer Param } ? Placeholders<Param> : never)
  | (E extends { headers: infer Headers } ? Placeholders<Headers[keyof Headers]> : never)

type Values<Name extends ErrorName> = Record<EntryPlaceholders<Entry<Name>>, string | number>

/** `values` may be omitted when the entry has no placeholders. `cause` is only logged. */
type Arguments<Name extends ErrorName> = [EntryPlaceholders<Entry<Name>>] extends [never]
  ? [values?: Record<string, never> | null, cause?: unknown]
  : [values: Values<Name>, cause?: unknown]

/** Returns the error to throw. */
export function createError<Name extends ErrorName>(name: Name, ...args: Arguments<Name>): ProxyError {
  return new ProxyError(createErrorOptions(name, ...args))
}

/** A 400 about one field of the request or one of its headers. */
export function invalidRequestError(problem: string, param?: string): ProxyError {
  return param === undefined
    ? createError('invalidRequest', { problem })
    : createError('invalidField', { problem, param })
}

/** Returns a copy of the error with `details`, which only Anthropic's envelope contains. */
export function addErrorDetails(error: ProxyError, details: Readonly<Record<string, unknown>>): ProxyError {
  const { status, code, message, type, param, headers, cause } = error
  return new ProxyError({ status, code, message, type, headers, cause, details, ...(param !== null && { param }) })
}

/** Returns what `createError` passes to the constructor, for callers with their own error class. */
export function createErrorOptions<Name extends ErrorName>(name: Name, ...args: Arguments<Name>): ProxyErrorOptions {
  const { status, code, message, type, param, headers }: ErrorDefinition = ERROR_CATALOGUE[name]
  const [values, cause] = args
  const fill = (text: string) => fillPlaceholders(text, values ?? {})
  return {
    status,
    code,
    message: fill(message),
    ...(type === undefined ? {} : { type }),
    ...(param === undefined ? {} : { param: fill(param) }),
    headers: Object.fromEntries(Object.entries(headers ?? {}).map(([header, text]) => [header, fill(text)])),
    cause,
  }
}

/** Replaces each placeholder by its value in a single pass, so that braces inside a value stay as they are. */
function fillPlaceholders(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : placeholder,
  )
}

/** Returns well-formed text of at most `maxLength` characters. Control characters and invisible direction marks become spaces. */
export function toSingleLine(text: string, maxLength: number): string {
  const line = text.slice(0, maxLength + 1).replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, ' ')
  return (line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line).toWellFormed()
}
