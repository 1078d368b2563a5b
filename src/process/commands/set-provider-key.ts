/** `set-provider-key PROJECT PROVIDER [NAME [WEIGHT]]`: encrypts the key on standard input, stores it, and prints its last four characters. */
import { readConfig } from '../../config/config.ts'
import { formatCommand } from '../../config/operator-command.ts'
import { callFunction } from '../../postgres/call.ts'
import { DEFAULT_KEY_NAME } from '../../postgres/stored-objects.ts'
import { openVault, sealKey } from '../../providers/keys/vault.ts'
import { withOperatorDatabase } from '../open-operator-database.ts'
import { readSecret } from './read-secret.ts'

export async function run([
  project,
  provider,
  name = DEFAULT_KEY_NAME,
  weight,
  ...rest
]: readonly string[]): Promise<number> {
  if (project === undefined || provider === undefined || rest.length > 0)
    throw new Error(
      `usage: printf %s "$SECRET" | ${formatCommand('set-provider-key')} PROJECT PROVIDER [NAME [WEIGHT]]`,
    )
  if (weight !== undefined && !/^[1-9]\d{0,3}$/.test(weight))
    throw new Error(`weight ${JSON.stringify(weight)} is not valid: it must be a whole number from 1 to 1000`)
  const secret = await readSecret()
  const config = readConfig()
  await withOperatorDatabase(config, async database => {
    const projectId = await callFunction(database, 'find_project', { project })
    const key = await sealKey(openVault(config), secret, { projectId, provider })
    await callFunction(database, 'store_provider_key', {
      owner_id: projectId,
      provider,
      ...key,
      name,
      weight: weight === undefined ? null : Number(weight),
    })
    process.stdout.write(`${key.last_four}\n`)
  })
  return 0
}
