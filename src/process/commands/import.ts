/**
 * `import litellm [--config FILE] [--dry-run] [--plan enterprise] [--project NAME] [--keys-until DATE|never]`: imports LiteLLM's
 * configuration, and its database from LITELLM_DATABASE_URL.
 */
import { listVendors } from '../../catalogue/list-vendors.ts'
import { type Config, processEnvironment, readConfig } from '../../config/config.ts'
import { callFunction } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import { listModels } from '../../postgres/list-models.ts'
import { readEncryptionKeys } from '../../providers/keys/encryption-key.ts'
import { installationKeyOwner } from '../../providers/keys/installation-keys.ts'
import { createVault } from '../../providers/keys/vault.ts'
import { formatReport, ImportReport } from '../import/import-report.ts'
import { planAccounts } from '../import/litellm-accounts.ts'
import { planModels } from '../import/litellm-models.ts'
import { planSettings } from '../import/litellm-omitted.ts'
import {
  type LiteLlmConfig,
  type LiteLlmDatabase,
  readLiteLlmConfig,
  readLiteLlmDatabase,
} from '../import/litellm-source.ts'
import type { PlannedVendor } from '../import/litellm-vendors.ts'
import { withOperatorDatabase } from '../open-operator-database.ts'
import { parseArguments } from './parse-arguments.ts'

const USAGE =
  'import litellm [--config config.yaml] [--dry-run] [--plan enterprise] [--project NAME] [--keys-until 2027-06-30|never]'
const URL_VARIABLE = 'LITELLM_DATABASE_URL'
/** Time for one statement, which imports everything. */
const STATEMENT_LIMIT_MS = 600_000

export interface ImportOptions {
  config: LiteLlmConfig | null
  source: LiteLlmDatabase | null
  isDryRun: boolean
  plan: string
  /** The project of keys without a team. */
  project: string
  /** When imported keys expire; null: never; undefined: as before. */
  keysUntil: string | null | undefined
  environment: Readonly<Record<string, string | undefined>>
}

export async function run(args: readonly string[]): Promise<number> {
  const { words, options } = parseArguments(args, {
    usage: USAGE,
    words: 1,
    options: {
      config: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
      plan: { type: 'string', default: 'enterprise' },
      project: { type: 'string', default: 'personal' },
      'keys-until': { type: 'string' },
    },
  })
  if (words[0] !== 'litellm') throw new Error(`only litellm can be imported: ${USAGE}`)
  const keysUntil = parseKeysUntil(options['keys-until'])
  const url = processEnvironment[URL_VARIABLE]
  if (options.config === undefined && url === undefined && keysUntil === undefined)
    throw new Error(`give --config FILE, and LiteLLM’s database in the variable ${URL_VARIABLE}`)
  const config = options.config === undefined ? null : await readLiteLlmConfig(options.config)
  if (url !== undefined) reportProgress('reading LiteLLM’s database')
  const source = url === undefined ? null : await readLiteLlmDatabase(url)
  if (source) reportProgress(`read ${source.VerificationToken.length} keys and ${source.TeamTable.length} teams`)
  const setup = {
    config,
    source,
    keysUntil,
    isDryRun: options['dry-run'],
    plan: options.plan,
    project: options.project,
  }
  const limits = { statementTimeLimitMs: STATEMENT_LIMIT_MS }
  const output = await withOperatorDatabase(
    readConfig(),
    database => importLiteLlm(database, readConfig(), { ...setup, environment: processEnvironment }),
    limits,
  )
  process.stdout.write(output)
  return 0
}

/** Imports everything in one transaction, and returns the report. Throws an error of one line if nothing was imported. */
export async function importLiteLlm(database: Database, config: Config, options: ImportOptions): Promise<string> {
  const { isDryRun, plan, project, keysUntil, environment } = options
  const report = new ImportReport()
  const written = options.config ?? EMPTY_CONFIG
  const [vendors, catalogue] = await Promise.all([listVendors(database), listModels(database)])
  const priced = new Set(catalogue.map(({ provider, model }) => `${provider}/${model}`))
  const models = planModels(written, { vendors, environment, priced, report })
  const settings = options.config ? planSettings(written, models, report) : {}
  const accounts = options.source
    ? planAccounts(options.source, {
        models,
        settings,
        hasModels: options.config !== null,
        defaultProject: project,
        report,
      })
    : { projects: [], keys: [], budgets: [] }
  const document = {
    gateway: 'litellm',
    plan,
    ...(keysUntil !== undefined && { keys_until: keysUntil }),
    has_all_keys: options.source !== null,
    vendors: models.vendors.map(({ name, columns }) => ({ name, columns })),
    models: models.vendors.flatMap(({ name, models }) => models.map(model => ({ vendor: name, ...model }))),
    vendor_keys: isDryRun ? [] : await sealChangedKeys(database, config, models.vendors),
    ...accounts,
  }
  if (!isDryRun) reportProgress(`importing ${accounts.keys.length} keys and ${accounts.budgets.length} budgets`)
  const counts = await callFunction(database, 'import_accounts', { document, is_dry_run: isDryRun })
  const outcome = counts
    .filter(({ created, changed, unchanged }) => created + changed + unchanged > 0)
    .map(
      ({ kind, created, changed, unchanged }) => `${kind}: ${created} new, ${changed} changed, ${unchanged} unchanged`,
    )
  const title = isDryRun ? 'Dry run: nothing was changed. An import would change:' : 'Imported:'
  return `${formatReport(report)}\n${title}\n${outcome.map(line => `  ${line}\n`).join('')}`
}

export const EMPTY_CONFIG: LiteLlmConfig = {
  models: [],
  credentials: new Map(),
  sections: { litellm_settings: {}, router_settings: {}, general_settings: {} },
  environment: {},
  otherSections: [],
}

/** Encrypts the keys of vendors that differ from the stored ones. */
async function sealChangedKeys(database: Database, config: Config, vendors: readonly PlannedVendor[]) {
  const vault = createVault(() => readEncryptionKeys(config))
  const stored = await database.call<{ vendor: string; sealed: Uint8Array }>(
    'select vendor, sealed from model_proxy.vendor_keys',
    [],
  )
  const changed: { vendor: string; sealed: string; last_four: string }[] = []
  for (const { name, key } of vendors) {
    if (key === null) continue
    const owner = installationKeyOwner(name)
    const known = stored.find(({ vendor }) => vendor === name)
    if (known && (await vault.open(known.sealed, owner)) === key) continue
    const sealed = Buffer.from(await vault.seal(key, owner)).toString('hex')
    changed.push({ vendor: name, sealed: `\\x${sealed}`, last_four: key.slice(-4) })
  }
  return changed
}

function parseKeysUntil(given: string | undefined): string | null | undefined {
  if (given === undefined || given === 'never') return given === undefined ? undefined : null
  const time = /^\d{4}-\d\d-\d\d/.test(given) ? Date.parse(given) : Number.NaN
  if (Number.isNaN(time))
    throw new Error('--keys-until must be never, or a date such as 2027-06-30 (the beginning of that day, UTC)')
  return new Date(time).toISOString()
}

/** Long work reports its steps on standard error. */
function reportProgress(step: string): void {
  process.stderr.write(`${step} …\n`)
}
