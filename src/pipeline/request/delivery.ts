/** Reads the header by which a client limits how long its response may take. */
import { invalidRequestError } from '../../errors/errors.ts'

export interface Delivery {
  /** The longest time to the first token, in milliseconds; Infinity if the client sets none. */
  firstTokenMs: number
}

const FIRST_TOKEN_HEADER = 'X-Proxy-First-Token-Timeout-Ms'
const MAX_TIMEOUT_MS = 3_600_000

/** Throws a 400 that names the header if its value is invalid. */
export function readDelivery(headers: Headers): Delivery {
  const firstToken = headers.get(FIRST_TOKEN_HEADER)
  return { firstTokenMs: firstToken === null ? Number.POSITIVE_INFINITY : readTimeout(firstToken) }
}

function readTimeout(value: string): number {
  const milliseconds = Number(value)
  if (/^\d{1,7}$/.test(value) && milliseconds >= 1 && milliseconds <= MAX_TIMEOUT_MS) return milliseconds
  throw invalidRequestError(
    `${FIRST_TOKEN_HEADER}: must be whole milliseconds from 1 to ${MAX_TIMEOUT_MS}.`,
    FIRST_TOKEN_HEADER,
  )
}
