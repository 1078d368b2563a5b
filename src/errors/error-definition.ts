/** The type of one entry in the catalogue of errors, and what several entries share. */

export interface ErrorDefinition {
  status: number
  /** OpenAI's `error.code`. Several errors may share one. */
  code: string
  /** The cause in one plain sentence, for the documentation. */
  description: string
  /** A template: `refuse` fills the gaps in braces. Never contains a prompt, a key or a secret. */
  message: string
  /** OpenAI's `error.type`, if the status does not imply it. */
  type?: string
  param?: string
  headers?: Readonly<Record<string, string>>
}

/** Headers when the request was not read to its end: the connection cannot be reused. */
export const CLOSE_CONNECTION = { connection: 'close' } as const
export const RETRY_SOON = { 'retry-after': '1' } as const
/** OpenAI's and Anthropic's clients repeat a 5xx or 429 unless they are told not to. */
export const DO_NOT_RETRY = { 'x-should-retry': 'false' } as const

/** Entries of one status and code. */
export function defineErrors<
  Status extends number,
  Code extends string,
  const Entries extends Record<string, Omit<ErrorDefinition, 'status' | 'code'>>,
>(status: Status, code: Code, entries: Entries) {
  const shared = Object.entries(entries).map(([name, entry]) => [name, { status, code, ...entry }])
  return Object.fromEntries(shared) as { [Name in keyof Entries]: { status: Status; code: Code } & Entries[Name] }
}
