/** Deletes entries whose tags were made with a key that is no longer to be used: PostgreSQL has them, and copies are written anew. */
import { Cluster, type Redis } from 'ioredis'
import type { EntrySigner } from '../signed-store.ts'
import type { RedisConnection } from './connect-redis.ts'
import { installationPrefix } from './redis-store.ts'

const NAMES_A_PAGE = 200

/** Returns their number. `tags` are those of the other keys; what has another tag, or none, stays. */
export async function deleteSignedEntries(
  connection: RedisConnection,
  installationId: string,
  tags: EntrySigner,
): Promise<number> {
  const servers = connection instanceof Cluster ? connection.nodes('master') : [connection]
  const counts = await Promise.all(servers.map(server => forgetOn(server, installationPrefix(installationId), tags)))
  return counts.reduce((sum, count) => sum + count, 0)
}

async function forgetOn(server: Redis, prefix: string, tags: EntrySigner): Promise<number> {
  let forgotten = 0
  let cursor = '0'
  do {
    const [next, names] = await server.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', NAMES_A_PAGE, 'TYPE', 'string')
    for (const name of names) {
      const value = await server.getBuffer(name)
      if (value === null || tags.verify(name.slice(prefix.length), value) === null) continue
      forgotten += await server.del(name)
    }
    cursor = next
  } while (cursor !== '0')
  return forgotten
}
