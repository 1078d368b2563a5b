/**
 * `reseal`: re-encrypts all stored secrets and contents with the new ENCRYPTION_KEY, so that the old key can be removed. Run it once all
 * processes use the new key. Also deletes entries in Redis that were signed with the old key.
 */
import { type Config, readConfig } from '../../config/config.ts'
import { callFunction } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import { listSealed, SEALED_CONTENTS, SEALED_SECRETS, type SealedTable } from '../../postgres/sealed-rows.ts'
import { formatBytea } from '../../postgres/wire-format.ts'
import { readEncryptionKeys } from '../../providers/keys/encryption-key.ts'
import { openVault, type Vault } from '../../providers/keys/vault.ts'
import { decodeSealedText, encodeSealedText } from '../../stores/content-seal.ts'
import { connectRedis } from '../../stores/redis/connect-redis.ts'
import { deleteSignedEntries } from '../../stores/redis/delete-signed-entries.ts'
import { createEntrySigner } from '../../stores/signed-store.ts'
import { withOperatorDatabase } from '../open-operator-database.ts'

/** The time limit of a statement. If few of many rows are sealed, a page reads many rows. */
const STATEMENT_TIME_LIMIT_MS = 600_000

/** The functions that decode and encode a sealed value, by column type. */
const CODECS = {
  bytea: [(value: string) => Buffer.from(value.slice(2), 'hex'), formatBytea],
  text: [decodeSealedText, encodeSealedText],
} as const

interface Resealed {
  resealed: number
  current: number
  /** The reasons why values cannot be decrypted, one for each. */
  lost: string[]
}

export async function run(): Promise<number> {
  const config = readConfig()
  const vault = openVault(config)
  const work = async (database: Database) => {
    const secrets = await resealAll(database, vault, SEALED_SECRETS)
    const contents = await resealAll(database, vault, SEALED_CONTENTS)
    const copies = await deleteCopies(config, database)
    process.stdout.write(
      `Secrets: ${secrets.resealed} re-encrypted, ${secrets.current} unchanged, ${secrets.lost.length} failed\n`,
    )
    if (contents.resealed + contents.lost.length + copies > 0) {
      process.stdout.write(
        `Responses and contents: ${contents.resealed} re-encrypted, ${contents.lost.length} failed, which expire; ${copies} copies deleted in Redis\n`,
      )
    }
    for (const line of secrets.lost) process.stderr.write(`${line}\n`)
    return secrets.lost.length > 0 ? 1 : 0
  }
  return withOperatorDatabase(config, work, { statementTimeLimitMs: STATEMENT_TIME_LIMIT_MS })
}

async function resealAll(database: Database, vault: Vault, tables: readonly SealedTable[]): Promise<Resealed> {
  const done: Resealed = { resealed: 0, current: 0, lost: [] }
  for (const table of tables) {
    const [read, write] = CODECS[table.type]
    for await (const { projectId, project, provider, value, replace } of listSealed(database, table)) {
      const sealed = await vault.reseal(read(value), { projectId, provider }).catch((error: Error) => error)
      if (sealed instanceof Error) done.lost.push(`${project}: ${sealed.message}`)
      else if (sealed === null) done.current++
      else {
        await replace(write(sealed))
        done.resealed++
      }
    }
  }
  return done
}

/** Deletes entries in Redis with the old signature. They are copies of data in PostgreSQL. */
async function deleteCopies(config: Config, database: Database): Promise<number> {
  const { others } = await readEncryptionKeys(config)
  const [current, ...more] = others
  if (config.redisUrl === null || current === undefined) return 0
  const installationId = await callFunction(database, 'installation_id', {})
  const redis = connectRedis(config.redisUrl, { tls: config.redisTls, isSubscriber: true })
  try {
    return await deleteSignedEntries(
      redis,
      installationId,
      createEntrySigner({ current, others: more }, installationId),
    )
  } finally {
    redis.disconnect()
  }
}
