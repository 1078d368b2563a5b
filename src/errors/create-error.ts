/** Creates errors from the catalogue: fills the gaps in message, parameter and headers. */
import { ERROR_CATALOGUE, type ErrorName } from './error-catalogue.ts'
import type { ErrorDefinition } from './error-definition.ts'
import { ProxyError, type ProxyErrorOptions } from './proxy-error.ts'

type Entry<Name extends ErrorName> = (typeof ERROR_CATALOGUE)[Name]

/** The names between braces. */
type Gaps<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Gaps<Rest> : never

type EntryGaps<E> =
  | (E extends { message: infer Message } ? Gaps<Message> : never)
  | (E extends { param: infer Param } ? Gaps<Param> : never)
  | (E extends { headers: infer Headers } ? Gaps<Headers[keyof Headers]> : never)

type Values<Name extends ErrorName> = Record<EntryGaps<Entry<Name>>, string | number>

/** `values` may be omitted when the entry has no gaps. `cause` is only logged. */
type Arguments<Name extends ErrorName> = [EntryGaps<Entry<Name>>] extends [never]
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

/** The same error with what Anthropic's clients act on; OpenAI's are not told. */
export function addErrorDetails(error: ProxyError, details: Readonly<Record<string, unknown>>): ProxyError {
  const { status, code, message, type, param, headers, cause } = error
  return new ProxyError({ status, code, message, type, headers, cause, details, ...(param !== null && { param }) })
}

/** As `refuse`, for callers with an error class of their own. */
export function createErrorOptions<Name extends ErrorName>(name: Name, ...args: Arguments<Name>): ProxyErrorOptions {
  const { status, code, message, type, param, headers }: ErrorDefinition = ERROR_CATALOGUE[name]
  const [values, cause] = args
  const fill = (text: string) => fillGaps(text, values ?? {})
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

/** In a single pass, so that braces inside a value stay as they are. */
function fillGaps(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (gap, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : gap))
}
