/** Many hashes as one value: drivers agree on how to send a bytea, not on a list of them. */

/** The bytes of hex hashes, one behind the other. */
export function joinHashes(hashes: readonly string[]): Uint8Array {
  return Buffer.from(hashes.join(''), 'hex')
}

/** Stands where there is no hash, so that the places of the others hold. */
export const NO_HASH = '0'.repeat(64)
