/** The server's side of SCRAM-SHA-256, which authenticates psql: RFC 5802 and RFC 7677. */
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'

export const SCRAM_MECHANISM = 'SCRAM-SHA-256'

const ITERATIONS = 4_096
const KEY_BYTES = 32
/** Matches "n,," or "y,,": there is no channel binding, because there is no TLS. */
const HEADER = /^([ny],(?:a=[^,]*)?,)(n=[^,]*,r=([\x21-\x2b\x2d-\x7e]+)(?:,.*)?)$/

/** A verifier derived from the password. The password cannot be recovered from it. */
export interface ScramVerifier {
  salt: Buffer
  storedKey: Buffer
  serverKey: Buffer
}

export interface ScramExchange {
  /** Returns the reply to the client's first message; null if the message is invalid. */
  begin(clientFirst: string): string | null
  /** Returns the server's signature; null if the client's password is wrong. */
  finish(clientFinal: string): string | null
}

export function createScramVerifier(password: string): ScramVerifier {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, ITERATIONS, KEY_BYTES, 'sha256')
  return { salt, storedKey: sha256(hmac(salted, 'Client Key')), serverKey: hmac(salted, 'Server Key') }
}

export function createScramExchange({ salt, storedKey, serverKey }: ScramVerifier): ScramExchange {
  let opening: { header: string; clientFirstBare: string; serverFirst: string; nonce: string } | null = null

  return {
    begin(clientFirst) {
      const match = HEADER.exec(clientFirst)
      if (!match) return null
      const [, header = '', clientFirstBare = '', clientNonce = ''] = match
      const nonce = clientNonce + randomBytes(18).toString('base64')
      const serverFirst = `r=${nonce},s=${salt.toString('base64')},i=${ITERATIONS}`
      opening = { header, clientFirstBare, serverFirst, nonce }
      return serverFirst
    },
    finish(clientFinal) {
      if (!opening) return null
      const { header, clientFirstBare, serverFirst, nonce } = opening
      const match = /^(c=([^,]*),r=([^,]*)(?:,[^p][^,]*)*),p=([A-Za-z0-9+/]+=*)$/.exec(clientFinal)
      if (!match) return null
      const [, withoutProof = '', binding = '', finalNonce, proofText = ''] = match
      const proof = Buffer.from(proofText, 'base64')
      if (finalNonce !== nonce || Buffer.from(binding, 'base64').toString() !== header) return null
      if (proof.length !== KEY_BYTES) return null
      const authMessage = `${clientFirstBare},${serverFirst},${withoutProof}`
      const clientKey = xor(proof, hmac(storedKey, authMessage))
      if (!timingSafeEqual(sha256(clientKey), storedKey)) return null
      return `v=${hmac(serverKey, authMessage).toString('base64')}`
    },
  }
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}

function xor(left: Buffer, right: Buffer): Buffer {
  return Buffer.from(left.map((byte, at) => byte ^ (right[at] ?? 0)))
}
