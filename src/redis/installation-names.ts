/**
 * Prefixes names in Redis, so that installations can share a server: staging beside production, or a restored database beside its
 * original.
 */

/** Digits of the id in a prefix: few, because every name costs memory. */
const ID_LENGTH = 8

/** The prefix of every key and channel. `id` is what installation_id() returns, so that an operator can find them. */
export function installationPrefix(id: string): string {
  return `mp:${id.slice(0, ID_LENGTH)}:`
}
