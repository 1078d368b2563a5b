/** The login of a psql session. It declines encryption and checks the password. */
import { encodeAuthentication, type ProtocolFrame } from './psql-frames.ts'
import { createScramExchange, SCRAM_MECHANISM, type ScramVerifier } from './scram.ts'

const SASL = 10
const SASL_CONTINUE = 11
const SASL_FINAL = 12

/**
 * `waiting`: more messages must follow. `rejected`: the password is wrong. `ended`: the client wants no session. Otherwise, the login
 * succeeded and returns the startup message for PostgreSQL.
 */
type Outcome = 'waiting' | 'rejected' | 'ended' | { startup: Buffer }

/** Returns a function that handles the messages of a login, one by one. It throws on an invalid message. */
export function createPsqlLogin(
  verifier: ScramVerifier,
  send: (bytes: Uint8Array) => void,
): (frame: ProtocolFrame) => Outcome {
  const scram = createScramExchange(verifier)
  let startup: Buffer | null = null
  let hasSentChallenge = false

  function handleSaslMessage(bytes: Buffer): Outcome {
    const content = bytes.subarray(5)
    if (!hasSentChallenge) {
      const nameEnd = content.indexOf(0)
      if (content.toString('latin1', 0, nameEnd) !== SCRAM_MECHANISM) throw new Error('unsupported authentication')
      const challenge = scram.begin(content.toString('utf8', nameEnd + 5))
      if (challenge === null) throw new Error('invalid authentication message')
      hasSentChallenge = true
      send(encodeAuthentication(SASL_CONTINUE, challenge))
      return 'waiting'
    }
    const proof = scram.finish(content.toString('utf8'))
    if (proof === null || startup === null) return 'rejected'
    send(encodeAuthentication(SASL_FINAL, proof))
    return { startup }
  }

  return frame => {
    if (frame.kind === 'cancel') return 'ended'
    if (frame.kind === 'encryption') send(Buffer.from('N'))
    else if (frame.kind === 'startup') {
      startup = frame.bytes
      send(encodeAuthentication(SASL, `${SCRAM_MECHANISM}\0\0`))
    } else if (frame.type === 'p') return handleSaslMessage(frame.bytes)
    else if (frame.type === 'X') return 'ended'
    else throw new Error('expected a password message')
    return 'waiting'
  }
}
