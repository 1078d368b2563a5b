/**
 * Brings a database to this version's schema: the baseline, the steps of each migration once, then what has changed of settings, views, functions
 * and seeds.
 *
 * During a deploy, the previous release still serves beside the new one, and no request may wait long. So a migration consists of steps,
 * each begun by a line of its own:
 *
 *   -- step: locked        One transaction, and short: it changes definitions, never rows. It begins with `lock table …` for all that it
 *                          locks, in alphabetical order. A lock that is not free at once makes it start over a moment later.
 *   -- step: batches       One statement that moves some rows, in a transaction of its own, and says how many: a single row with the
 *                          integer column moved. It is repeated until that is 0. It must not matter how often it runs.
 *   -- step: concurrently  One `create index concurrently`.
 *
 * Settings are deployed next, then views and functions, together, in one transaction. Every function that the previous release calls keeps its name,
 * arguments and result for one more release: where one changes, it gets a new list of arguments, and the old one moves to
 * sql/compatibility. Tables lose no column that the previous release uses, and get none without a default. The ledger's row `release` tells
 * the previous release, where it is started beside, to leave the newer functions alone.
 */
import { version } from '../../package.json' with { type: 'json' }
import { createRightsCheck } from './check-rights.ts'
import type { Database } from './database.ts'
import {
  BASELINE_NAME,
  type DeployedFile,
  isMigration,
  type Migration,
  type MigrationStep,
  readDeployedFiles,
  readMigrations,
} from './migration-files.ts'
import {
  buildLedgerInsert,
  hasTable,
  LATEST_RELEASE_ROW_NAME,
  type MigrationLedger,
  readLedger,
} from './migration-ledger.ts'
import {
  isMigrating,
  MIGRATION_IN_PROGRESS,
  type MigrationTask,
  runWithMigrationLock,
  tryMigrationTask,
} from './migration-lock.ts'
import { buildBatchScript, buildIndex, buildReplaceScript } from './migration-steps.ts'
import { RESTORE_ADVICE, SchemaRepairer } from './repair-schema.ts'
import { rejectPublicSchemaTables, substituteExtensionSchema, UNRELEASED_MESSAGE } from './schema-prerequisites.ts'

/** The lock timeout of a step. While a step waits for a table's lock, all later requests for the table queue behind it. */
const LOCK_TIMEOUT_MS = 50
/**
 * After this time, a step uses a longer lock timeout at intervals, because autovacuum releases a table only for a session that has waited for
 * one second (deadlock_timeout). Requests detect the deployment and wait meanwhile.
 */
const IMPATIENT_AFTER_MS = 5_000
const IMPATIENT_LOCK_TIMEOUT_MS = 1_500
const IMPATIENT_PAUSE_MS = 2_000

const RETRY_AFTER_MS = 250
const REPORT_WAIT_EVERY_MS = 10_000
const WAIT_LIMIT_MS = 30 * 60_000
/** The pause between batches, so that requests and vacuum keep up. */
const BATCH_PAUSE_MS = 20

export interface MigrationReport {
  /** Applied migrations and folders, in order; empty if the database was up to date. */
  applied: string[]
  /** True if a newer release has migrated the database. Its functions are compatible with this release and stay. */
  isOlderRelease: boolean
  /** The names of the schema objects that were missing or different and were repaired. */
  repaired: string[]
}

export interface MigrateOptions {
  /** Called every ten seconds while the deploy waits. `reason` names the cause: another proxy, or a table in use. */
  onWait?(seconds: number, reason: string): void
  /** Called before parts of the schema are recreated. The time that this takes grows with the size of the tables. */
  onRepair?(names: readonly string[]): void
  waitLimitMs?: number
}

/** Migrates the database. Throws if an applied migration was edited since, if no release created the database, and if a step fails. */
export async function migrate(
  database: Database,
  { onWait = () => {}, onRepair = () => {}, waitLimitMs = WAIT_LIMIT_MS }: MigrateOptions = {},
): Promise<MigrationReport> {
  const [migrations, deployed] = await Promise.all([readMigrations(), readDeployedFiles()])
  const applied = new Set<string>()
  const repair = new SchemaRepairer(() => deploy(new Map(), deployed), onRepair)
  let waitsSinceMs: number | null = null
  let reportedAtMs = Number.NEGATIVE_INFINITY
  const rights = createRightsCheck(database)
  let hasLedger = await rights.explain(hasTable(database, 'schema_migrations'))
  if (!hasLedger) await rejectPublicSchemaTables(database)
  for (;;) {
    hasLedger ||= await hasTable(database, 'schema_migrations')
    const ledger = hasLedger ? await rights.explain(readLedger(database)) : new Map<string, string>()
    if (hasLedger && ledger.size === 0 && (await hasTable(database, 'projects')))
      throw new Error(
        `the database has tables, but no ledger of migrations: its rows were not restored. ${RESTORE_ADVICE}`,
      )
    rejectUnreleased(ledger, migrations)
    const isBehind = hasNewer(ledger, migrations)
    let task = isBehind ? null : nextTask(ledger, migrations, deployed)
    if (task === null && !isBehind) task = await repair.nextTask(database, ledger, applied.has(BASELINE_NAME))
    // This proxy must not serve while another one migrates, even if the ledger is up to date.
    if (task === null && !(await isMigrating(database)))
      return { applied: [...applied], isOlderRelease: isBehind, repaired: repair.repaired }
    let reason: string | null = MIGRATION_IN_PROGRESS
    const waitedMs = waitsSinceMs === null ? 0 : performance.now() - waitsSinceMs
    const isImpatient = waitedMs > IMPATIENT_AFTER_MS
    const lockTimeoutMs = isImpatient ? IMPATIENT_LOCK_TIMEOUT_MS : LOCK_TIMEOUT_MS
    if (task !== null) await rights.check()
    if (task !== null) reason = await tryMigrationTask(database, task, ledger, lockTimeoutMs)
    if (task !== null && reason === null) {
      for (const name of task.appliedNames) applied.add(name)
      waitsSinceMs = null
      continue
    }
    waitsSinceMs ??= performance.now()
    if (waitedMs > waitLimitMs)
      throw new Error(`the database could not be migrated within ${Math.round(waitedMs / 1_000)} s: ${reason}`)
    if (performance.now() - reportedAtMs > REPORT_WAIT_EVERY_MS) {
      reportedAtMs = performance.now()
      onWait(Math.round(waitedMs / 1_000), reason ?? MIGRATION_IN_PROGRESS)
    }
    await Bun.sleep(isImpatient ? IMPATIENT_PAUSE_MS : RETRY_AFTER_MS)
  }
}

/** Returns true if the ledger has the functions or a migration of a later release. */
function hasNewer(ledger: MigrationLedger, migrations: readonly Migration[]): boolean {
  const newest = migrations.findLast(({ name }) => isMigration(name))?.name ?? ''
  const isLater = Bun.semver.order(ledger.get(LATEST_RELEASE_ROW_NAME) ?? version, version) > 0
  return isLater || [...ledger.keys()].some(name => isMigration(name) && name > newest)
}

/** Throws if another version before the first release created the database. The baseline is edited in place, so it cannot be upgraded. */
function rejectUnreleased(ledger: MigrationLedger, migrations: readonly Migration[]): void {
  const known = ledger.get(BASELINE_NAME)
  const isOurs = migrations.some(({ name, checksum }) => name === BASELINE_NAME && checksum === known)
  if (known !== undefined && !isOurs) throw new Error(UNRELEASED_MESSAGE)
}

function nextTask(
  ledger: MigrationLedger,
  migrations: readonly Migration[],
  deployed: readonly DeployedFile[],
): MigrationTask | null {
  for (const migration of migrations) {
    const known = ledger.get(migration.name)
    if (known === migration.checksum) continue
    if (known !== undefined)
      throw new Error(`migration ${migration.name} was changed after it was applied; add a new migration instead`)
    const [step, ...later] = migration.steps.filter(({ name }) => !ledger.has(name))
    return step && (later.length > 0 || step.kind !== 'locked') ? runStep(step) : finishMigration(migration, step)
  }
  return deploySettings(ledger, deployed) ?? deploy(ledger, deployed)
}

/** Runs `remainingStep`, if any. Then replaces the steps in the ledger with the whole migration. */
function finishMigration({ name, checksum, steps }: Migration, remainingStep?: MigrationStep): MigrationTask {
  const deleteSteps =
    steps.length === 0
      ? ''
      : `delete from schema_migrations where name in (${steps.map(step => `'${step.name}'`).join(', ')});`
  const script = {
    name: `Migration ${remainingStep?.name ?? name}`,
    text: `${remainingStep?.text ?? ''}\n${deleteSteps}${buildLedgerInsert(name, checksum)}`,
  }
  return { appliedNames: [name], run: (...given) => runWithMigrationLock(given, [script]) }
}

function runStep({ name, kind, text, checksum }: MigrationStep): MigrationTask {
  const ledgerInsert = buildLedgerInsert(name, checksum)
  return {
    appliedNames: [],
    async run(...given) {
      const script = {
        name: `Migration ${name}`,
        text: kind === 'batches' ? buildBatchScript(text, ledgerInsert) : `${text}\n${ledgerInsert}`,
      }
      if (kind === 'concurrently') {
        const builder = await buildIndex(given[0], text)
        if (builder !== null) return builder
        script.text = ledgerInsert
      }
      await runWithMigrationLock(given, [script])
      if (kind === 'batches') await Bun.sleep(BATCH_PAUSE_MS)
      return null
    },
  }
}

/** Deploys changed settings in a transaction of their own, because a new setting is a column and locks the table projects. */
function deploySettings(ledger: MigrationLedger, deployed: readonly DeployedFile[]): MigrationTask | null {
  const changed = findChanged(ledger, deployed).filter(({ folder }) => folder === 'settings')
  if (changed.length === 0) return null
  const scripts = changed.map(({ name, text, checksum }) => ({
    name: `sql/${name}`,
    text: `${text}\n${buildLedgerInsert(name, checksum)}`,
  }))
  return { appliedNames: ['settings'], run: (...given) => runWithMigrationLock(given, scripts) }
}

function findChanged(ledger: MigrationLedger, deployed: readonly DeployedFile[]): DeployedFile[] {
  return deployed.filter(({ name, checksum }) => ledger.get(name) !== checksum)
}

/**
 * Deploys changed views and functions. If a view changed, redeploys all of them, because dropping a view also drops its dependents. All
 * seeds follow in a later transaction, so that requests do not wait for them; they also grant access to new views.
 */
function deploy(ledger: MigrationLedger, deployed: readonly DeployedFile[]): MigrationTask | null {
  const changed = findChanged(ledger, deployed).filter(({ folder }) => folder !== 'settings')
  if (changed.length === 0) return null
  const seeds = deployed.filter(({ folder }) => folder === 'seed')
  const definitions = deployed.filter(({ folder }) => folder !== 'seed' && folder !== 'settings')
  if (changed.every(file => seeds.includes(file))) return deployFiles(seeds)
  const hasView = changed.some(({ folder }) => folder === 'views')
  return deployFiles(
    // The views of the admin API depend on functions.
    definitions.filter(file => hasView || file.folder === 'api' || changed.includes(file)),
    `delete from schema_migrations where name like 'seed/%';`,
  )
}

/** Deploys files in one transaction. They are sent as one text, because a replaced view stays locked until the transaction ends. */
function deployFiles(files: readonly DeployedFile[], finalStatement = ''): MigrationTask {
  const texts: string[] = files.map(
    ({ name, text, checksum, folder }) =>
      `${folder === 'seed' ? text : buildReplaceScript(text)}\n${buildLedgerInsert(name, checksum)}`,
  )
  const folders = [...new Set(files.map(({ folder }) => folder))]
  const text = [...texts, buildLedgerInsert(LATEST_RELEASE_ROW_NAME, version), finalStatement].join('\n')
  return {
    appliedNames: folders,
    run: async (...given) =>
      runWithMigrationLock(given, [{ name: 'sql', text: await substituteExtensionSchema(given[0], text) }]),
  }
}
