/** Reads the files of sql/: the baseline, migrations in steps, and files that are redeployed when their text changes. */
import { readdir } from 'node:fs/promises'
import { basename } from 'node:path'

const sqlFolder = new URL('../../sql/', import.meta.url)
/**
 * The redeployed folders, in order of dependency: settings are columns, which views read; functions read views; the views of the admin API
 * (`api`) call functions. `compatibility` holds functions that only the previous release calls.
 */
const DEPLOYED = ['settings', 'views', 'functions', 'api', 'compatibility', 'seed'] as const

/** The name of the baseline, which creates all tables of the first release. */
export const BASELINE_NAME = 'baseline'

/** The way in which a step of a migration runs. */
export type MigrationStepKind = 'locked' | 'batches' | 'concurrently'

export interface MigrationStep {
  /** The name in the ledger while the migration is unfinished. */
  name: string
  kind: MigrationStepKind
  text: string
  checksum: string
}

export interface Migration {
  /** The name of the file, or BASELINE_NAME. */
  name: string
  checksum: string
  steps: MigrationStep[]
}

export interface DeployedFile {
  folder: (typeof DEPLOYED)[number]
  /** The path below sql/. */
  name: string
  text: string
  checksum: string
}

/** Matches the line that starts a step of a migration. Text before the first such line is a locked step. */
const STEP = /^-- step: (locked|batches|concurrently)\b.*$/gm

/** Returns the baseline, as one locked step, and the migrations of later releases. */
export async function readMigrations(): Promise<Migration[]> {
  const [baseline, files] = await Promise.all([readBaseline(), listFiles('migrations')])
  const later = files.map(async file => readMigration(file, await readSqlFile(`migrations/${file}`)))
  return [readMigration(BASELINE_NAME, baseline), ...(await Promise.all(later))]
}

async function readBaseline(): Promise<string> {
  const files = await listFiles('baseline')
  return (await Promise.all(files.map(file => readSqlFile(`baseline/${file}`)))).join('\n')
}

function readMigration(name: string, text: string): Migration {
  return { name, checksum: Bun.SHA256.hash(text, 'hex'), steps: parseMigrationSteps(name, text) }
}

/** Returns true if a name in the ledger is that of a migration, not of one of its steps. */
export function isMigration(name: string): boolean {
  return /^\d{6}_\w+\.sql$/.test(name)
}

export function parseMigrationSteps(file: string, text: string): MigrationStep[] {
  const marks = [...text.matchAll(STEP)]
  const starts = [0, ...marks.map(mark => mark.index)]
  return starts
    .map((start, at) => ({
      name: `${file}/${at}`,
      kind: (marks[at - 1]?.[1] ?? 'locked') as MigrationStepKind,
      text: text.slice(start, starts[at + 1]),
    }))
    .filter(step => step.text.split('\n').some(line => !/^\s*(--|$)/.test(line)))
    .map(step => ({ ...step, checksum: Bun.SHA256.hash(step.text, 'hex') }))
}

/** Returns all settings, views, functions and seeds, in the order in which they are deployed. */
export async function readDeployedFiles(): Promise<DeployedFile[]> {
  const folders = await Promise.all(
    DEPLOYED.map(async folder => {
      const files = await listFiles(folder)
      return Promise.all(
        files.map(async file => {
          const name = `${folder}/${file}`
          const text = await readSqlFile(name)
          return { folder, name, text, checksum: Bun.SHA256.hash(text, 'hex') }
        }),
      )
    }),
  )
  return folders.flatMap(files => (files[0]?.folder === 'views' ? sortViews(files) : files))
}

/** Sorts views so that each follows those that it reads. */
function sortViews(views: readonly DeployedFile[]): DeployedFile[] {
  const nameOf = ({ name }: DeployedFile) => basename(name, '.sql')
  const reads = (one: DeployedFile, other: DeployedFile) =>
    one !== other && new RegExp(`\\b(from|join) ${nameOf(other)}\\b`).test(one.text)
  const ordered: DeployedFile[] = []
  for (const view of views) place(view)
  return ordered

  function place(view: DeployedFile): void {
    if (ordered.includes(view)) return
    for (const other of views) if (reads(view, other)) place(other)
    ordered.push(view)
  }
}

async function listFiles(folder: string): Promise<string[]> {
  const names = await readdir(new URL(`${folder}/`, sqlFolder), { recursive: true }).catch(() => [])
  return names.filter(name => name.endsWith('.sql')).sort()
}

export function readSqlFile(path: string): Promise<string> {
  return Bun.file(new URL(path, sqlFolder)).text()
}
