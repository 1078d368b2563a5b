/** The embedded database's folder: one process at a time may use it, and only its owner may read it. */
import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ConfigError } from '../config/config.ts'
import { EMBEDDED_PASSWORD_FILE, EMBEDDED_PORT_FILE } from '../postgres/address.ts'
import { errorMessageOf } from '../telemetry/describe-cause.ts'

const LOCK = 'lock'
/** Another process may take the lock between the removal of a stale one and the creation of a new one. */
const LOCK_ATTEMPTS = 3

/** Returns the folder of the database's files, created if necessary. Throws when another living process holds it. */
export async function lockDataDir(dataDir: string): Promise<string> {
  const directory = resolve(dataDir)
  try {
    await mkdir(directory, { recursive: true })
    await chmod(directory, 0o700)
  } catch (error) {
    throw new ConfigError([
      `DATA_DIR must be a folder that this user can make or owns; ${directory} is not: ${errorMessageOf(error)}. Example: DATA_DIR=./data`,
    ])
  }
  await lock(join(directory, LOCK), dataDir)
  return join(directory, 'postgres')
}

async function lock(file: string, dataDir: string): Promise<void> {
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
    try {
      await writeFile(file, `${process.pid} ${startOf(process.pid)}`, { flag: 'wx', mode: 0o600 })
      process.on('exit', () => rmSync(file, { force: true }))
      return
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    if ((await findLockOwner(dataDir)) !== null) break
    // Left by a process that was killed.
    await rm(file, { force: true })
  }
  throw new Error(
    `Process ${await findLockOwner(dataDir)} already uses ${resolve(dataDir)}. Stop it, set DATA_DIR to another folder, or set DATABASE_URL to share a real PostgreSQL.`,
  )
}

/** Process id of another living process that holds the folder; null when there is none. */
export async function findLockOwner(dataDir: string): Promise<number | null> {
  const [pid, start] = (await readFile(join(resolve(dataDir), LOCK), 'utf8').catch(() => '')).split(' ')
  const holder = Number(pid)
  if (!(holder > 0) || holder === process.pid || !isAlive(holder)) return null
  // The process id may have been reused since.
  return start === undefined || start === startOf(holder) ? holder : null
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user is alive, too.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** A process's start time, in ticks since boot: field 22 of its stat. '' when the system does not report it. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

/** The embedded database's password, created at first use, in a file that psql reads. */
export async function ensurePsqlPassword(dataDir: string): Promise<string> {
  const kept = await readPsqlPassword(dataDir)
  if (kept !== null) return kept
  const password = randomBytes(24).toString('base64url')
  const lines = ['127.0.0.1', 'localhost'].map(host => `${host}:*:*:postgres:${password}\n`)
  await writeFile(psqlPasswordPath(dataDir), lines.join(''), { mode: 0o600 })
  return password
}

/** Returns null when there is none yet. */
export async function readPsqlPassword(dataDir: string): Promise<string | null> {
  const text = await readFile(psqlPasswordPath(dataDir), 'utf8').catch(() => '')
  return /^127\.0\.0\.1:\*:\*:postgres:([\w-]+)$/m.exec(text)?.[1] ?? null
}

/** In the format of libpq's password files. */
export function psqlPasswordPath(dataDir: string): string {
  return join(resolve(dataDir), EMBEDDED_PASSWORD_FILE)
}

/** Where psql reaches the database, for operators' commands: EMBEDDED_PG_PORT=0 takes any port. */
export async function writePsqlPort(dataDir: string, port: number): Promise<void> {
  await writeFile(join(resolve(dataDir), EMBEDDED_PORT_FILE), String(port), { mode: 0o600 })
}
