/** Reads the headers by which a client chooses how long its response may take, and how a stream is delivered. */
import { invalidRequestError } from '../../errors/errors.ts'

export interface Delivery {
  /** The longest time to the first token, in milliseconds; Infinity if the client sets none. */
  firstTokenMs: number
  /** Whether a stream is sent as it arrives, or once it is complete; null for the project's setting. */
  mode: 'live' | 'whole' | null
}

const STREAM_HEADER = 'X-Proxy-Stream'
const FIRST_TOKEN_HEADER = 'X-Proxy-First-Token-Timeout-Ms'
const MAX_TIMEOUT_MS = 3_600_000

/** Throws a 400 that names a header with an invalid value. */
export function readDelivery(headers: Headers): Delivery {
  const firstToken = headers.get(FIRST_TOKEN_HEADER)
  const mode = headers.get(STREAM_HEADER)?.trim().toLowerCase() ?? null
  if (mode !== null && mode !== 'live' && mode !== 'whole')
    throw invalidRequestError(`${STREAM_HEADER}: must be live or whole.`, STREAM_HEADER)
  return { firstTokenMs: firstToken === null ? Number.POSITIVE_INFINITY : readTimeout(firstToken), mode }
}

function readTimeout(value: string): number {
  const milliseconds = Number(value)
  if (/^\d{1,7}$/.test(value) && milliseconds >= 1 && milliseconds <= MAX_TIMEOUT_MS) return milliseconds
  throw invalidRequestError(
    `${FIRST_TOKEN_HEADER}: must be whole milliseconds from 1 to ${MAX_TIMEOUT_MS}.`,
    FIRST_TOKEN_HEADER,
  )
}
