/** Converts between ids as the API shows them (`proj_12`) and as the database stores them (12). */
import { createError, type ProxyError } from '../errors/errors.ts'

/** The prefix of ids of a kind, such as `proj` in `proj_12`. */
export type IdPrefix = string

export function formatId(kind: IdPrefix, id: number): string {
  return `${kind}_${id}`
}

/** Parses an id. Returns null if the text is not an id of that kind. */
export function parseId(kind: IdPrefix, text: string): number | null {
  if (!text.startsWith(`${kind}_`)) return null
  const digits = text.slice(kind.length + 1)
  return /^\d{1,15}$/.test(digits) ? Number(digits) : null
}

/** Parses ids of a filter. Returns null without a filter. An invalid id becomes -1, which matches nothing. */
export function parseIds(kind: IdPrefix, ids: readonly string[] | undefined): number[] | null {
  return ids === undefined ? null : ids.map(id => parseId(kind, id) ?? -1)
}

/** Parses an id. Throws a 404 if the text is not an id of that kind, because no object can have it. */
export function requireId(kind: IdPrefix, text: string): number {
  const id = parseId(kind, text)
  if (id === null) throw notFoundError(`No object has that id; it must begin with ${kind}_.`)
  return id
}

export function notFoundError(problem: string): ProxyError {
  return createError('notFound', { problem })
}
