/** The hash by which a key is stored and found: `api_keys.key_hash`. */

/** Begins GoModel's keys, of which it stores the SHA-256 of the rest. */
const GOMODEL_PREFIX = 'sk_gom_'

/** The hash of a key of GoModel, from the one that is stored there. No other key has it: not the rest alone, and none of another gateway. */
export const hashGoModelKey = (storedHash: string): string =>
  Bun.SHA256.hash(`${GOMODEL_PREFIX}${storedHash.toLowerCase()}`, 'hex')

/** Hex SHA-256 of a key; of a key of GoModel, its hash above. */
export const hashKey = (key: string): string =>
  key.startsWith(GOMODEL_PREFIX)
    ? hashGoModelKey(Bun.SHA256.hash(key.slice(GOMODEL_PREFIX.length), 'hex'))
    : Bun.SHA256.hash(key, 'hex')
