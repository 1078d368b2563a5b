/** Names in Redis, which installations may share: staging beside production, a database that was restored beside the one it came from. */

/** Digits of the id that tell installations apart; names are many, and each costs memory. */
const ID_LENGTH = 8

/** What every key and channel of an installation begins with. `id`: as installation_id() makes it, so that an operator finds them. */
export function installationPrefix(id: string): string {
  return `mp:${id.slice(0, ID_LENGTH)}:`
}
