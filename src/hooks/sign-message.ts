/**
 * Signs what is posted to an address of the operator's or a project's, after the Standard Webhooks specification
 * (https://www.standardwebhooks.com): whoever knows the secret can tell that it is the proxy's, and of now.
 */
import { nowMs } from '../event-loop/clock.ts'

/** Returns the headers to post a JSON body with. */
export type SignMessage = (id: string, body: Uint8Array) => Promise<Record<string, string>>

const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' }

/** `secret` is base64, behind `whsec_` or not. */
export function createSigner(secret: string): SignMessage {
  const bytes = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const key = crypto.subtle.importKey('raw', bytes, ALGORITHM, false, ['sign'])
  return async (id, body) => {
    const seconds = Math.floor(nowMs() / 1000)
    // Hashed beside the event loop: bodies may be long.
    const signed = Buffer.concat([Buffer.from(`${id}.${seconds}.`), body])
    const signature = Buffer.from(await crypto.subtle.sign(ALGORITHM.name, await key, signed))
    return {
      'content-type': 'application/json',
      'user-agent': 'model-proxy',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': `v1,${signature.toString('base64')}`,
    }
  }
}
