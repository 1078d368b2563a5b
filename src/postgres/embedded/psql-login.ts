/** A psql session's login: encryption is declined, and the password checked. */
import { encodeAuthentication, type ProtocolFrame } from './psql-frames.ts'
import { createScramExchange, SCRAM_MECHANISM, type ScramVerifier } from './scram.ts'

const SASL = 10
const SASL_CONTINUE = 11
const SASL_FINAL = 12

/**
 * `waiting` for more messages, `refused` for a wrong password, `ended` when the client wants no session, or the startup message for
 * PostgreSQL.
 */
type Outcome = 'waiting' | 'refused' | 'ended' | { startup: Buffer }

/** Handles one message after the other. Throws on an invalid one. */
export function createPsqlLogin(
  verifier: ScramVerifier,
  send: (bytes: Uint8Array) => void,
): (frame: ProtocolFrame) => Outcome {
  const scram = createScramExchange(verifier)
  let startup: Buffer | null = null
  let hasBegun = false

  function answerProof(bytes: Buffer): Outcome {
    const content = bytes.subarray(5)
    if (!hasBegun) {
      const nameEnd = content.indexOf(0)
      if (content.toString('latin1', 0, nameEnd) !== SCRAM_MECHANISM) throw new Error('unsupported authentication')
      const challenge = scram.begin(content.toString('utf8', nameEnd + 5))
      if (challenge === null) throw new Error('invalid authentication message')
      hasBegun = true
      send(encodeAuthentication(SASL_CONTINUE, challenge))
      return 'waiting'
    }
    const proof = scram.finish(content.toString('utf8'))
    if (proof === null || startup === null) return 'refused'
    send(encodeAuthentication(SASL_FINAL, proof))
    return { startup }
  }

  return frame => {
    if (frame.kind === 'cancel') return 'ended'
    if (frame.kind === 'encryption') send(Buffer.from('N'))
    else if (frame.kind === 'startup') {
      startup = frame.bytes
      send(encodeAuthentication(SASL, `${SCRAM_MECHANISM}\0\0`))
    } else if (frame.type === 'p') return answerProof(frame.bytes)
    else if (frame.type === 'X') return 'ended'
    else throw new Error('a password was expected')
    return 'waiting'
  }
}
