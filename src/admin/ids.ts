/** Converts between ids as the API shows them (`proj_12`) and as the database stores them (12). */
import { createError, type ProxyError } from '../errors/errors.ts'

/** What its ids begin with: `proj` of `proj_12`. */
export type IdPrefix = string

export function formatId(kind: IdPrefix, id: number): string {
  return `${kind}_${id}`
}

/** Returns null when the text is not an id of that kind. */
export function parseId(kind: IdPrefix, text: string): number | null {
  if (!text.startsWith(`${kind}_`)) return null
  const digits = text.slice(kind.length + 1)
  return /^\d{1,15}$/.test(digits) ? Number(digits) : null
}

/** Null for no filter. An id that is not valid becomes -1, which matches nothing. */
export function parseIds(kind: IdPrefix, ids: readonly string[] | undefined): number[] | null {
  return ids === undefined ? null : ids.map(id => parseId(kind, id) ?? -1)
}

/** Throws a 404 when the text is not an id of that kind, because no object can have that id. */
export function requireId(kind: IdPrefix, text: string): number {
  const id = parseId(kind, text)
  if (id === null) throw notFoundError(`There is nothing with that id; it should begin with ${kind}_.`)
  return id
}

export function notFoundError(problem: string): ProxyError {
  return createError('notFound', { problem })
}
