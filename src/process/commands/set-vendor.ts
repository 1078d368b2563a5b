/**
 * `set-vendor NAME [COLUMN=VALUE …] [--key -] [--remove-key] [--remove [--with-keys]]`: adds, changes or removes a vendor, and stores the key that
 * all projects use that have none of their own.
 */
import { parseArgs } from 'node:util'
import { readConfig } from '../../config/config.ts'
import { formatCommand } from '../../config/operator-command.ts'
import { callFunction } from '../../postgres/call.ts'
import { installationKeyOwner } from '../../providers/keys/installation-keys.ts'
import { openVault, sealKey } from '../../providers/keys/vault.ts'
import { withOperatorDatabase } from '../open-operator-database.ts'
import { readSecret } from './read-secret.ts'

const USAGE = `Usage: ${formatCommand('set-vendor')} NAME [COLUMN=VALUE ...] [--key -] [--remove-key]
       ${formatCommand('set-vendor')} NAME --remove [--with-keys]

Adds or changes a vendor. Every process uses it within seconds. A new vendor needs base_url; lists are separated by commas.

  --key -       stores the key on standard input, for all projects that have none of their own
  --remove-key  deletes that key
  --remove      removes the vendor
  --with-keys   also removes its keys of projects and of the installation

Columns:

`

const FLAG = { type: 'boolean', default: false } as const

export async function run(args: readonly string[]): Promise<number> {
  const options = { key: { type: 'string' }, 'remove-key': FLAG, remove: FLAG, 'with-keys': FLAG, help: FLAG } as const
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  const [vendor, ...given] = positionals
  if (values.help) return printHelp()
  if (vendor === undefined) throw new Error(`the name of the vendor is missing: ${formatCommand('set-vendor')} --help`)
  if (values.key !== undefined && values.key !== '-')
    throw new Error('a key is read from standard input, because other users can read arguments: give --key -')
  const columns = Object.fromEntries(given.map(readColumn))
  if (values.remove && (given.length > 0 || values.key !== undefined))
    throw new Error('--remove removes the vendor: give it alone, or with --with-keys')
  const config = readConfig()
  const secret = values.key === undefined ? null : await readSecret()
  const key = secret && (await sealKey(openVault(config), secret, installationKeyOwner(vendor)))
  await withOperatorDatabase(config, async database => {
    if (values.remove) return callFunction(database, 'remove_vendor', { vendor, with_keys: values['with-keys'] })
    await callFunction(database, 'set_vendor', { vendor, columns })
    if (key || values['remove-key'])
      await callFunction(database, 'set_vendor_key', { vendor, ...(key || { sealed: null, last_four: null }) })
    if (key) process.stdout.write(`${key.last_four}\n`)
  })
  return 0
}

async function printHelp(): Promise<number> {
  process.stdout.write(USAGE)
  await withOperatorDatabase(readConfig(), async database => {
    const columns = await callFunction(database, 'vendor_columns', {})
    for (const { name, type, meaning } of columns) process.stdout.write(`  ${name} (${type}): ${meaning}\n`)
  }).catch(() => process.stdout.write('  those of the table vendors; the database could not be read\n'))
  return 0
}

function readColumn(text: string): [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw new Error(
      `${JSON.stringify(text.slice(0, 100))} must be a column and its value: base_url=https://api.example.com/v1`,
    )
  return [name, value]
}
