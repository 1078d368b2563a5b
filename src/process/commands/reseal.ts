/**
 * `reseal`: once all processes encrypt with the new ENCRYPTION_KEY, encrypts all that is stored with it that another key of the rotation
 * can decrypt, so that the other key can go. Copies in Redis that have its tag are deleted.
 */
import { type Config, readConfig } from '../../config/config.ts'
import { callFunction } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import { listSealed, SEALED_CONTENTS, SEALED_SECRETS, type SealedTable } from '../../postgres/sealed-rows.ts'
import { formatBytea } from '../../postgres/wire-format.ts'
import { readEncryptionKeys } from '../../providers/keys/encryption-key.ts'
import { createVault, type Vault } from '../../providers/keys/vault.ts'
import { decodeSealedText, encodeSealedText } from '../../stores/content-seal.ts'
import { connectRedis } from '../../stores/redis/connect-redis.ts'
import { deleteSignedEntries } from '../../stores/redis/delete-signed-entries.ts'
import { createEntrySigner } from '../../stores/signed-store.ts'
import { withOperatorDatabase } from '../open-operator-database.ts'

/** A page of few sealed rows among many others reads all of these. */
const STATEMENT_TIME_LIMIT_MS = 600_000

/** How PostgreSQL shows a sealed value, and takes one. */
const FORMS = {
  bytea: [
    (value: string) => Buffer.from(value.slice(2), 'hex'),
    (sealed: Uint8Array) => formatBytea(Buffer.from(sealed).toString('hex')),
  ],
  text: [decodeSealedText, encodeSealedText],
} as const

interface Resealed {
  resealed: number
  current: number
  /** Why not, for each value that no key decrypts. */
  lost: string[]
}

export async function run(): Promise<number> {
  const config = readConfig()
  const vault = createVault(() => readEncryptionKeys(config))
  const work = async (database: Database) => {
    const secrets = await resealAll(database, vault, SEALED_SECRETS)
    const contents = await resealAll(database, vault, SEALED_CONTENTS)
    const copies = await forgetCopies(config, database)
    process.stdout.write(
      `${secrets.resealed} sealed anew, ${secrets.current} were already, ${secrets.lost.length} could not be\n`,
    )
    if (contents.resealed + contents.lost.length + copies > 0) {
      process.stdout.write(
        `Of answers and contents: ${contents.resealed} sealed anew, ${contents.lost.length} that no key opens and that expire; ${copies} copies deleted in Redis\n`,
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
    const [read, write] = FORMS[table.type]
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

/** Of the fast store, which has nothing that PostgreSQL has not. */
async function forgetCopies(config: Config, database: Database): Promise<number> {
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
