/** Cursors for lists ordered by time. The request id orders items with equal times. */
import { invalidRequestError } from '../errors/errors.ts'

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$/

export interface TimeCursor {
  /** ISO 8601, to the microsecond. */
  at: string
  requestId: string
}

export function formatTimeCursor({ at, requestId }: TimeCursor): string {
  return Buffer.from(JSON.stringify([at, requestId])).toString('base64url')
}

/** Parses a cursor. Throws a 400 if the text is not a cursor of such a list. */
export function parseTimeCursor(text: string, param = 'after'): TimeCursor {
  try {
    const [at, requestId] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (typeof requestId === 'string' && ISO_TIME.test(at) && !Number.isNaN(Date.parse(at))) return { at, requestId }
  } catch {
    // The throw below covers invalid JSON too.
  }
  throw invalidRequestError(`The parameter '${param}' must be an id from this list.`, param)
}
