/** Decodes a request's bytes. */
import { invalidRequest } from '../errors.ts'

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

/** Throws a 400 when the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    throw invalidRequest('The body of your request must be UTF-8 text.')
  }
}
