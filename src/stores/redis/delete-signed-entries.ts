/** Deletes entries signed with a retired key. PostgreSQL still has the responses, so that they are copied again. */
import { Cluster, type Redis } from 'ioredis'
import type { EntrySigner } from '../signed-store.ts'
import type { RedisConnection } from './connect-redis.ts'
import { installationPrefix } from './redis-store.ts'

const NAMES_PER_PAGE = 200

/** Deletes the entries that `signer`, which has the retired keys, verifies. Resolves to their number. Other entries stay. */
export async function deleteSignedEntries(
  connection: RedisConnection,
  installationId: string,
  signer: EntrySigner,
): Promise<number> {
  const servers = connection instanceof Cluster ? connection.nodes('master') : [connection]
  const counts = await Promise.all(
    servers.map(server => deleteOnServer(server, installationPrefix(installationId), signer)),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

async function deleteOnServer(server: Redis, prefix: string, signer: EntrySigner): Promise<number> {
  let deleted = 0
  let cursor = '0'
  do {
    const [next, names] = await server.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', NAMES_PER_PAGE, 'TYPE', 'string')
    for (const name of names) {
      const value = await server.getBuffer(name)
      if (value === null || signer.verify(name.slice(prefix.length), value) === null) continue
      deleted += await server.del(name)
    }
    cursor = next
  } while (cursor !== '0')
  return deleted
}
