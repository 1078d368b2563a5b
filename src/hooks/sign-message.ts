/**
 * Signs messages to hooks and webhooks by the Standard Webhooks specification (https://www.standardwebhooks.com). A receiver that knows the
 * secret can verify that a message is the proxy's, and recent.
 */
import { nowMs } from '../event-loop/clock.ts'

/** Returns the headers with which a JSON body is posted. */
export type SignMessage = (id: string, body: Uint8Array) => Promise<Record<string, string>>

const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' }

/** `secret` is base64, with or without the prefix `whsec_`. */
export function createSigner(secret: string): SignMessage {
  const bytes = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const key = crypto.subtle.importKey('raw', bytes, ALGORITHM, false, ['sign'])
  return async (id, body) => {
    const seconds = Math.floor(nowMs() / 1000)
    // Web Crypto hashes outside the event loop: bodies may be long.
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
