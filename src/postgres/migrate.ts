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
import { createRightsCheck } from './check-schema-rights.ts'
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
  hasTables,
  isLedgerPresent,
  type MigrationLedger,
  RELEASE_ROW,
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
import { rejectPublicSchemaTables, setExtensionSchema, UNRELEASED_MESSAGE } from './schema-prerequisites.ts'

/** While a step waits for the lock of a table, every later request for that table waits behind it. */
const LOCK_TIMEOUT_MS = 50
/**
 * Autovacuum lets go of a table only for somebody who has waited for a second (deadlock_timeout). So a step that has been kept waiting for
 * this long waits longer now and then: requests know that a deploy is on, and wait with it.
 */
const IMPATIENT_AFTER_MS = 5_000
const IMPATIENT_LOCK_TIMEOUT_MS = 1_500
const IMPATIENT_PAUSE_MS = 2_000

const ASK_AGAIN_AFTER_MS = 250
const TELL_EVERY_MS = 10_000
const WAIT_LIMIT_MS = 30 * 60_000
/** Between batches, so that requests and vacuum keep up. */
const REST_MS = 20

export interface MigrationReport {
  /** What was applied, in order: migrations, and folders of which something was; empty when the database was up to date. */
  applied: string[]
  /** A newer release has migrated the database: its functions serve this release too, and stay. */
  isOlderRelease: boolean
  /** What the database lacked of the schema, or had otherwise, and has again. */
  repaired: string[]
}

export interface MigrateOptions {
  /** Called now and then while the deploy waits for another proxy or for tables in use; `reason` says which. */
  onWait?(seconds: number, reason: string): void
  /** Called before part of the schema is made again, which takes as long as its tables are large. */
  onRepair?(names: readonly string[]): void
  waitLimitMs?: number
}

/** Throws when an applied migration has since been edited, when the database is of no release, and when a step fails. */
export async function migrate(
  database: Database,
  { onWait = () => {}, onRepair = () => {}, waitLimitMs = WAIT_LIMIT_MS }: MigrateOptions = {},
): Promise<MigrationReport> {
  const [migrations, deployed] = await Promise.all([readMigrations(), readDeployedFiles()])
  const applied = new Set<string>()
  const repair = new SchemaRepairer(() => deploy(new Map(), deployed), onRepair)
  let waitsSinceMs: number | null = null
  let toldAtMs = Number.NEGATIVE_INFINITY
  const rights = createRightsCheck(database)
  let hasLedger = await rights.explain(isLedgerPresent(database))
  if (!hasLedger) await rejectPublicSchemaTables(database)
  for (;;) {
    hasLedger ||= await isLedgerPresent(database)
    const ledger = hasLedger ? await rights.explain(readLedger(database)) : new Map<string, string>()
    if (hasLedger && ledger.size === 0 && (await hasTables(database)))
      throw new Error(
        `The database has tables, but no ledger of migrations: its rows were not restored. ${RESTORE_ADVICE}`,
      )
    refuseUnreleased(ledger, migrations)
    const isBehind = hasNewer(ledger, migrations)
    let work = isBehind ? null : nextWork(ledger, migrations, deployed)
    if (work === null && !isBehind) work = await repair.nextTask(database, ledger, applied.has(BASELINE_NAME))
    // While another proxy migrates, this one must not serve, even if the ledger is up to date.
    if (work === null && !(await isMigrating(database)))
      return { applied: [...applied], isOlderRelease: isBehind, repaired: repair.repaired }
    let reason: string | null = MIGRATION_IN_PROGRESS
    const waitedMs = waitsSinceMs === null ? 0 : performance.now() - waitsSinceMs
    const isImpatient = waitedMs > IMPATIENT_AFTER_MS
    const lockTimeoutMs = isImpatient ? IMPATIENT_LOCK_TIMEOUT_MS : LOCK_TIMEOUT_MS
    if (work !== null) await rights.check()
    if (work !== null) reason = await tryMigrationTask(database, work, ledger, lockTimeoutMs)
    if (work !== null && reason === null) {
      for (const name of work.appliedNames) applied.add(name)
      waitsSinceMs = null
      continue
    }
    waitsSinceMs ??= performance.now()
    if (waitedMs > waitLimitMs)
      throw new Error(`The database could not be migrated for ${Math.round(waitedMs / 1_000)} s: ${reason}`)
    if (performance.now() - toldAtMs > TELL_EVERY_MS) {
      toldAtMs = performance.now()
      onWait(Math.round(waitedMs / 1_000), reason ?? MIGRATION_IN_PROGRESS)
    }
    await Bun.sleep(isImpatient ? IMPATIENT_PAUSE_MS : ASK_AGAIN_AFTER_MS)
  }
}

/** Whether a later release was here: its functions stand in the ledger, or the first of its migrations. */
function hasNewer(ledger: MigrationLedger, migrations: readonly Migration[]): boolean {
  const newest = migrations.findLast(({ name }) => isMigration(name))?.name ?? ''
  const isLater = Bun.semver.order(ledger.get(RELEASE_ROW) ?? version, version) > 0
  return isLater || [...ledger.keys()].some(name => isMigration(name) && name > newest)
}

/** Before the first release, the baseline is edited in place: no version can go on from another one. */
function refuseUnreleased(ledger: MigrationLedger, migrations: readonly Migration[]): void {
  const known = ledger.get(BASELINE_NAME)
  const isOurs = migrations.some(({ name, checksum }) => name === BASELINE_NAME && checksum === known)
  if (known !== undefined && !isOurs) throw new Error(UNRELEASED_MESSAGE)
}

function nextWork(
  ledger: MigrationLedger,
  migrations: readonly Migration[],
  deployed: readonly DeployedFile[],
): MigrationTask | null {
  for (const migration of migrations) {
    const known = ledger.get(migration.name)
    if (known === migration.checksum) continue
    if (known !== undefined)
      throw new Error(`Migration ${migration.name} was changed after it was applied; add a new migration instead`)
    const [step, ...later] = migration.steps.filter(({ name }) => !ledger.has(name))
    return step && (later.length > 0 || step.kind !== 'locked') ? runStep(step) : finish(migration, step)
  }
  return deploySettings(ledger, deployed) ?? deploy(ledger, deployed)
}

/** Steps are forgotten once the whole migration stands in the ledger. `last` is the step that is still to be taken, if any. */
function finish({ name, checksum, steps }: Migration, last?: MigrationStep): MigrationTask {
  const forget =
    steps.length === 0
      ? ''
      : `delete from schema_migrations where name in (${steps.map(step => `'${step.name}'`).join(', ')});`
  const script = {
    name: `Migration ${last?.name ?? name}`,
    text: `${last?.text ?? ''}\n${forget}${buildLedgerInsert(name, checksum)}`,
  }
  return { appliedNames: [name], run: (...given) => runWithMigrationLock(given, [script]) }
}

function runStep({ name, kind, text, checksum }: MigrationStep): MigrationTask {
  const note = buildLedgerInsert(name, checksum)
  return {
    appliedNames: [],
    async run(...given) {
      const script = {
        name: `Migration ${name}`,
        text: kind === 'batches' ? buildBatchScript(text, note) : `${text}\n${note}`,
      }
      if (kind === 'concurrently') {
        const builder = await buildIndex(given[0], text)
        if (builder !== null) return builder
        script.text = note
      }
      await runWithMigrationLock(given, [script])
      if (kind === 'batches') await Bun.sleep(REST_MS)
      return null
    },
  }
}

/** By themselves: a new one is a column of projects, which stays locked until the transaction's end. */
function deploySettings(ledger: MigrationLedger, deployed: readonly DeployedFile[]): MigrationTask | null {
  const changed = changedOf(ledger, deployed).filter(({ folder }) => folder === 'settings')
  if (changed.length === 0) return null
  const scripts = changed.map(({ name, text, checksum }) => ({
    name: `sql/${name}`,
    text: `${text}\n${buildLedgerInsert(name, checksum)}`,
  }))
  return { appliedNames: ['settings'], run: (...given) => runWithMigrationLock(given, scripts) }
}

function changedOf(ledger: MigrationLedger, deployed: readonly DeployedFile[]): DeployedFile[] {
  return deployed.filter(({ name, checksum }) => ledger.get(name) !== checksum)
}

/**
 * What has changed of views and functions; with a view, all of them, because dropping a view also drops what depends on it. Seeds are
 * rows, and grant what a new view needs: they come after, all of them, so that nobody waits for them.
 */
function deploy(ledger: MigrationLedger, deployed: readonly DeployedFile[]): MigrationTask | null {
  const changed = changedOf(ledger, deployed).filter(({ folder }) => folder !== 'settings')
  if (changed.length === 0) return null
  const seeds = deployed.filter(({ folder }) => folder === 'seed')
  const definitions = deployed.filter(({ folder }) => folder !== 'seed' && folder !== 'settings')
  if (changed.every(file => seeds.includes(file))) return deployFiles(seeds)
  const hasView = changed.some(({ folder }) => folder === 'views')
  return deployFiles(
    // What the admin API shows depends on functions.
    definitions.filter(file => hasView || file.folder === 'api' || changed.includes(file)),
    `delete from schema_migrations where name like 'seed/%';`,
  )
}

/** Together, in one transaction; sent as one text, because a view stays locked until its end. */
function deployFiles(files: readonly DeployedFile[], last = ''): MigrationTask {
  const texts: string[] = files.map(
    ({ name, text, checksum, folder }) =>
      `${folder === 'seed' ? text : buildReplaceScript(text)}\n${buildLedgerInsert(name, checksum)}`,
  )
  const folders = [...new Set(files.map(({ folder }) => folder))]
  const text = [...texts, buildLedgerInsert(RELEASE_ROW, version), last].join('\n')
  return {
    appliedNames: folders,
    run: async (...given) =>
      runWithMigrationLock(given, [{ name: 'sql', text: await setExtensionSchema(given[0], text) }]),
  }
}
