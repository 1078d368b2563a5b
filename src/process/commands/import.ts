/**
 * `import litellm|gomodel [--config FILE] [--database URL|FILE] [--dry-run] [--plan enterprise] [--project NAME] [--keys-until DATE|never]`:
 * imports the configuration of LiteLLM and its database from LITELLM_DATABASE_URL, or GoModel's configuration and database.
 */
import { listVendors } from '../../catalogue/vendor-directory.ts'
import { type Config, processEnvironment, readConfig } from '../../config/config.ts'
import { nowMs } from '../../event-loop/clock.ts'
import { callFunction } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import { listModels } from '../../postgres/list-models.ts'
import { formatBytea } from '../../postgres/wire-format.ts'
import { installationKeyOwner } from '../../providers/keys/installation-keys.ts'
import { openVault, sealKey } from '../../providers/keys/vault.ts'
import type { AccountPlan } from '../import/accounts.ts'
import { planGoModelAccounts } from '../import/gomodel-accounts.ts'
import { planVirtualModels } from '../import/gomodel-models.ts'
import {
  type GoModelConfig,
  type GoModelDatabase,
  readGoModelConfig,
  readGoModelDatabase,
} from '../import/gomodel-source.ts'
import { planAccounts } from '../import/litellm-accounts.ts'
import {
  EMPTY_CONFIG,
  type LiteLlmConfig,
  type LiteLlmDatabase,
  readLiteLlmConfig,
  readLiteLlmDatabase,
} from '../import/litellm-source.ts'
import { type ModelPlan, planModels } from '../import/models.ts'
import { formatReport, ImportReport } from '../import/report.ts'
import { planSettings } from '../import/settings.ts'
import type { ModelPlanOptions } from '../import/vendors.ts'
import { withOperatorDatabase } from '../open-operator-database.ts'
import { parseArguments } from './parse-arguments.ts'

const USAGE =
  'import litellm|gomodel [--config config.yaml] [--database URL|FILE] [--dry-run] [--plan enterprise] [--project NAME] [--keys-until 2027-06-30|never]'
const URL_VARIABLE = 'LITELLM_DATABASE_URL'
/** Time for one statement, which imports everything. */
const STATEMENT_LIMIT_MS = 600_000

interface CommonOptions {
  isDryRun: boolean
  plan: string
  /** The project of keys without a team or path. */
  project: string
  /** When imported keys expire; null: never; undefined: as before. */
  keysUntil: string | null | undefined
  environment: Readonly<Record<string, string | undefined>>
}

/** Null for what was not given. */
interface ImportOptions<Settings, Source> extends CommonOptions {
  config: Settings | null
  source: Source | null
}
export type LiteLlmImportOptions = ImportOptions<LiteLlmConfig, LiteLlmDatabase>
export type GoModelImportOptions = ImportOptions<GoModelConfig, GoModelDatabase>

export async function run(args: readonly string[]): Promise<number> {
  const { words, options } = parseArguments(args, {
    usage: USAGE,
    words: 1,
    options: {
      config: { type: 'string' },
      database: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
      plan: { type: 'string', default: 'enterprise' },
      project: { type: 'string', default: 'personal' },
      'keys-until': { type: 'string' },
    },
  })
  const common = {
    keysUntil: parseKeysUntil(options['keys-until']),
    isDryRun: options['dry-run'],
    plan: options.plan,
    project: options.project,
    environment: processEnvironment,
  }
  const importAll =
    words[0] === 'litellm' ? await readLiteLlm(options, common) : await readGoModel(words[0], options, common)
  const limits = { statementTimeLimitMs: STATEMENT_LIMIT_MS }
  const output = await withOperatorDatabase(readConfig(), database => importAll(database, readConfig()), limits)
  process.stdout.write(output)
  return 0
}

interface GivenFiles {
  config?: string
  database?: string
}
type Import = (database: Database, config: Config) => Promise<string>

async function readLiteLlm(files: GivenFiles, common: CommonOptions): Promise<Import> {
  // With the expiry alone, nothing else is imported.
  const url =
    files.config === undefined && common.keysUntil !== undefined ? undefined : processEnvironment[URL_VARIABLE]
  if (files.database !== undefined) throw new Error(`give LiteLLM’s database in the variable ${URL_VARIABLE}`)
  if (files.config === undefined && url === undefined && common.keysUntil === undefined)
    throw new Error(`give --config FILE, and LiteLLM’s database in the variable ${URL_VARIABLE}`)
  const config = files.config === undefined ? null : await readLiteLlmConfig(files.config)
  if (url !== undefined) reportProgress('reading LiteLLM’s database')
  const source = url === undefined ? null : await readLiteLlmDatabase(url)
  if (source) reportProgress(`read ${source.VerificationToken.length} keys and ${source.TeamTable.length} teams`)
  return (database, proxy) => importLiteLlm(database, proxy, { ...common, config, source })
}

async function readGoModel(gateway: string | undefined, files: GivenFiles, common: CommonOptions): Promise<Import> {
  if (gateway !== 'gomodel') throw new Error(`only litellm and gomodel can be imported: ${USAGE}`)
  if (files.database === undefined && common.keysUntil === undefined)
    throw new Error('give GoModel’s database with --database, a URL or a file such as data/gomodel.db')
  const config = files.config === undefined ? null : await readGoModelConfig(files.config, common.environment)
  if (files.database !== undefined) reportProgress('reading GoModel’s database')
  const source = files.database === undefined ? null : await readGoModelDatabase(files.database)
  if (source) reportProgress(`read ${source.auth_keys.length} keys and ${source.budgets.length} budgets`)
  return (database, proxy) => importGoModel(database, proxy, { ...common, config, source })
}

const NO_ACCOUNTS: AccountPlan = { projects: [], keys: [], budgets: [] }

/** Imports everything in one transaction, and returns the report. Throws an error of one line if nothing was imported. */
export const importLiteLlm = (database: Database, proxy: Config, options: LiteLlmImportOptions): Promise<string> =>
  importPlan(database, proxy, 'LiteLLM', options, given => {
    const { config, source, project: defaultProject } = options
    const models = planModels(config ?? EMPTY_CONFIG, given)
    const settings = config && planSettings(config, models, given.report)
    const rest = { models, settings, defaultProject, report: given.report }
    return { models, accounts: source ? planAccounts(source, rest) : NO_ACCOUNTS }
  })

/** Like `importLiteLlm`. */
export async function importGoModel(database: Database, proxy: Config, options: GoModelImportOptions): Promise<string> {
  const config = options.config ?? (await readGoModelConfig(undefined, options.environment))
  return importPlan(database, proxy, 'GoModel', options, given => {
    const { report } = given
    if (options.source === null) return { models: planModels(EMPTY_CONFIG, given), accounts: NO_ACCOUNTS }
    const virtual = planVirtualModels(options.source.virtual_models, config, report)
    const models = planModels(virtual.deployments, given)
    const settings = options.config && planSettings(virtual.deployments, models, report)
    const rest = { config, virtual, models, settings, defaultProject: options.project, report }
    return { models, accounts: planGoModelAccounts(options.source, rest) }
  })
}

async function importPlan(
  database: Database,
  config: Config,
  gateway: string,
  { source, isDryRun, plan, keysUntil, environment }: ImportOptions<unknown, unknown>,
  planAll: (given: ModelPlanOptions) => { models: ModelPlan; accounts: AccountPlan },
): Promise<string> {
  const report = new ImportReport()
  const [vendors, catalogue] = await Promise.all([listVendors(database), listModels(database)])
  const priced = new Set(catalogue.map(({ provider, model }) => `${provider}/${model}`))
  const { models, accounts } = planAll({ vendors, environment, priced, report })
  const document = {
    gateway: gateway.toLowerCase(),
    plan,
    ...(keysUntil !== undefined && { keys_until: keysUntil }),
    has_all_keys: source !== null,
    vendors: models.vendors.map(({ name, columns }) => ({ name, columns })),
    models: models.vendors.flatMap(({ name, models }) => models.map(model => ({ vendor: name, ...model }))),
    // Also in a dry run, which fails without ENCRYPTION_KEY as the import would.
    vendor_keys: await sealMissingKeys(database, config, models, report),
    ...accounts,
  }
  if (!isDryRun && source !== null)
    reportProgress(`importing ${accounts.keys.length} keys and ${accounts.budgets.length} budgets`)
  const counts = await callFunction(database, 'import_accounts', { document, is_dry_run: isDryRun })
  const outcome = counts.flatMap(({ kind, created, changed, unchanged }) => {
    if (created + changed + unchanged === 0) return []
    if (kind !== 'orphan') return `${kind}: ${created} new, ${changed} changed, ${unchanged} unchanged`
    return `key: ${unchanged} active keys of teams that this database of ${gateway} does not have; deactivate them if the teams are gone`
  })
  const title = isDryRun ? 'Dry run: nothing was changed. An import would change:' : 'Imported:'
  return `${formatReport(report, gateway)}\n${title}\n${outcome.map(line => `  ${line}\n`).join('')}`
}

/** Encrypts the keys of vendors that have none here. A key that was stored here may replace one that has leaked, so another is only reported. */
async function sealMissingKeys(database: Database, config: Config, { vendors }: ModelPlan, report: ImportReport) {
  const vault = openVault(config)
  const keys = 'select vendor, sealed from model_proxy.vendor_keys'
  const stored = await database.call<{ vendor: string; sealed: Uint8Array }>(keys, [])
  const missing = []
  for (const { name, key } of vendors) {
    if (key === null) continue
    const owner = installationKeyOwner(name)
    const known = stored.find(({ vendor }) => vendor === name)
    if (known) {
      if ((await vault.open(known.sealed, owner)) !== key)
        report.omitKey(name, 'another is stored here and stays; to replace it, run')
      continue
    }
    const { sealed, last_four } = await sealKey(vault, key, owner)
    missing.push({ vendor: name, sealed: formatBytea(sealed), last_four })
  }
  return missing
}

function parseKeysUntil(given: string | undefined): string | null | undefined {
  if (given === undefined || given === 'never') return given === undefined ? undefined : null
  const time = /^\d{4}-\d\d-\d\d/.test(given) ? Date.parse(given) : Number.NaN
  if (Number.isNaN(time))
    throw new Error('--keys-until must be never, or a date such as 2027-06-30 (the beginning of that day, UTC)')
  // A mistyped year would end all imported keys at once.
  if (time <= nowMs()) throw new Error('--keys-until must be in the future: all imported keys expire then')
  return new Date(time).toISOString()
}

/** Long work reports its steps on standard error. */
function reportProgress(step: string): void {
  process.stderr.write(`${step} …\n`)
}
