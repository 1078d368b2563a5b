/** Defines the type of an entry in the error catalogue, and the headers that several entries share. */

export interface ErrorDefinition {
  status: number
  /** OpenAI's `error.code`. Several errors may share one. */
  code: string
  /** The cause in one plain sentence, for the documentation. */
  description: string
  /** A template: `createError` fills the placeholders in braces. Never contains a prompt, a key or a secret. */
  message: string
  /** OpenAI's `error.type`, if the status does not imply it. */
  type?: string
  param?: string
  headers?: Readonly<Record<string, string>>
}

/** Headers for a request that was not read to its end, so that its connection cannot be reused. */
export const CLOSE_CONNECTION = { connection: 'close' } as const
export const RETRY_SOON = { 'retry-after': '1' } as const
/** Without this header, OpenAI's and Anthropic's clients retry a 5xx or 429. */
export const DO_NOT_RETRY = { 'x-should-retry': 'false' } as const

/** Adds the same status and code to each entry. */
export function defineErrors<
  Status extends number,
  Code extends string,
  const Entries extends Record<string, Omit<ErrorDefinition, 'status' | 'code'>>,
>(status: Status, code: Code, entries: Entries) {
  const shared = Object.entries(entries).map(([name, entry]) => [name, { status, code, ...entry }])
  return Object.fromEntries(shared) as { [Name in keyof Entries]: { status: Status; code: Code } & Entries[Name] }
}
