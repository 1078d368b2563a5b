/** The service key in the Authorization header: its format and its hash. */
import { refuse } from '../errors.ts'

const KEY_FORM = /^lgw_(proj|test)_[0-9A-Za-z_-]{8,200}$/

/** Hex SHA-256 of the Bearer key. Throws 401 when the header is missing, is not Bearer, or holds no key of this proxy's format. */
export function hashBearerKey(authorization: string | null): string {
  if (authorization === null || authorization.trim() === '') throw refuse('missingKey')
  const match = /^Bearer +(\S+) *$/i.exec(authorization)
  const key = match?.[1]
  if (key === undefined || !KEY_FORM.test(key)) throw refuse('invalidKey')
  return Bun.SHA256.hash(key, 'hex')
}
