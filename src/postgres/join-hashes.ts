/** Sends many hashes as one value: drivers agree on how to send a bytea, not on a list of them. */

/** The bytes of hex hashes, concatenated. */
export function joinHashes(hashes: readonly string[]): Uint8Array {
  return Buffer.from(hashes.join(''), 'hex')
}

/** A placeholder, so that the other hashes keep their positions. */
export const NO_HASH = '0'.repeat(64)
