/** Ids of what is found by when it happened: the time leads to it without a search, the request's id tells it from others. */
import { invalidRequest } from '../errors.ts'

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$/

export interface TimeCursor {
  /** ISO 8601, to the microsecond. */
  at: string
  requestId: string
}

export function formatTimeCursor({ at, requestId }: TimeCursor): string {
  return Buffer.from(JSON.stringify([at, requestId])).toString('base64url')
}

/** Throws a 400 where it is none that a list gave. */
export function readTimeCursor(text: string, param = 'after'): TimeCursor {
  try {
    const [at, requestId] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (typeof requestId === 'string' && ISO_TIME.test(at) && !Number.isNaN(Date.parse(at))) return { at, requestId }
  } catch {
    // Told below.
  }
  throw invalidRequest('This is not an id as the list gives it.', param)
}
