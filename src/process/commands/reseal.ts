/** `reseal`: after ENCRYPTION_KEY was replaced, encrypts all provider keys with it that the previous key can decrypt. */
import { readConfig } from '../../config/config.ts'
import { listSealedKeys, replaceSealedForm } from '../../postgres/projects.ts'
import { readEncryptionKeys } from '../../providers/keys/encryption-key.ts'
import { createVault } from '../../providers/keys/vault.ts'
import { withOperatorDatabase } from '../open-operator-database.ts'

export async function run(): Promise<number> {
  const config = readConfig()
  const vault = createVault(() => readEncryptionKeys(config))
  const lost: string[] = []
  let resealed = 0
  let current = 0
  await withOperatorDatabase(config, async database => {
    for (const key of await listSealedKeys(database)) {
      try {
        const sealed = await vault.reseal(key.sealed, key)
        if (sealed) {
          await replaceSealedForm(database, key, sealed)
          resealed++
        } else current++
      } catch (error) {
        lost.push(`${key.project}: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  })
  process.stdout.write(`${resealed} sealed anew, ${current} were already, ${lost.length} could not be\n`)
  for (const line of lost) process.stderr.write(`${line}\n`)
  return lost.length > 0 ? 1 : 0
}
