/** Called by set-provider-key.sh: encrypts the key on standard input and stores it. Usage: set-provider-key.ts PROJECT PROVIDER */
import { findProjectId, storeProviderKey } from '../src/postgres/projects.ts'
import { readEncryptionKeys } from '../src/providers/keys/encryption-key.ts'
import { createVault } from '../src/providers/keys/vault.ts'
import { DIRECT_PROVIDERS } from '../src/providers/model-router.ts'
import { fail, runOperatorCommand } from './run-operator-command.ts'

/** No vendor's key is longer. */
const MAX_LENGTH = 1_024
/** For a shorter key, four characters would reveal too much. */
const MIN_LENGTH_TO_SHOW = 12

const [project, provider, ...rest] = process.argv.slice(2)
if (project === undefined || provider === undefined || rest.length > 0) {
  fail('usage: printf %s "$SECRET" | scripts/set-provider-key.sh PROJECT PROVIDER')
}
if (!DIRECT_PROVIDERS.some(known => known === provider)) {
  fail(`provider ${JSON.stringify(provider)} does not exist; providers are: ${DIRECT_PROVIDERS.join(', ')}`)
}

const secret = (await Bun.stdin.text()).trim()
if (secret === '') fail('the key is missing: give it on standard input')
if (!/^[\x21-\x7e]+$/.test(secret) || secret.length > MAX_LENGTH) {
  fail(`the key on standard input is not valid: it must be one word of up to ${MAX_LENGTH} printable ASCII characters`)
}

await runOperatorCommand(async (database, config) => {
  const owner = { projectId: await findProjectId(database, project), provider }
  const sealed = await createVault(() => readEncryptionKeys(config)).seal(secret, owner)
  const lastFour = secret.length < MIN_LENGTH_TO_SHOW ? '****' : secret.slice(-4)
  await storeProviderKey(database, { ...owner, sealed, lastFour })
  process.stdout.write(`${lastFour}\n`)
  return 0
})
