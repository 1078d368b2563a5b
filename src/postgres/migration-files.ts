/** Reads what sql/ brings: the baseline, migrations in steps, and what is deployed anew when its text changes. */
import { readdir } from 'node:fs/promises'
import { basename } from 'node:path'

const sqlFolder = new URL('../../sql/', import.meta.url)
/**
 * In order of dependency: settings are columns, which views read; functions read views, and what the admin API shows calls functions.
 * Compatibility holds functions that only the release before calls.
 */
const DEPLOYED = ['settings', 'views', 'functions', 'api', 'compatibility', 'seed'] as const

/** All tables of the first release. */
export const BASELINE_NAME = 'baseline'

/** How a step of a migration runs. */
export type MigrationStepKind = 'locked' | 'batches' | 'concurrently'

export interface MigrationStep {
  /** Name in the ledger while the migration is unfinished. */
  name: string
  kind: MigrationStepKind
  text: string
  checksum: string
}

export interface Migration {
  /** The file, or `BASELINE`. */
  name: string
  checksum: string
  steps: MigrationStep[]
}

export interface DeployedFile {
  folder: (typeof DEPLOYED)[number]
  /** Path below sql/. */
  name: string
  text: string
  checksum: string
}

/** Begins a step within a migration; what stands before the first one is a locked step. */
const STEP = /^-- step: (locked|batches|concurrently)\b.*$/gm

/** The baseline, as one locked step, then what each release since the first one changes. */
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
  return { name, checksum: digest(text), steps: parseMigrationSteps(name, text) }
}

/** Whether the ledger's row is of a migration, not of one of its steps. */
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
    .map(step => ({ ...step, checksum: digest(step.text) }))
}

/** All settings, views, functions and seeds, in the order in which they are deployed. */
export async function readDeployedFiles(): Promise<DeployedFile[]> {
  const folders = await Promise.all(
    DEPLOYED.map(async folder => {
      const files = await listFiles(folder)
      return Promise.all(
        files.map(async file => {
          const name = `${folder}/${file}`
          const text = await readSqlFile(name)
          return { folder, name, text, checksum: digest(text) }
        }),
      )
    }),
  )
  return folders.flatMap(files => (files[0]?.folder === 'views' ? inOrder(files) : files))
}

/** A view comes after those that it reads. */
function inOrder(views: readonly DeployedFile[]): DeployedFile[] {
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

function digest(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex')
}
