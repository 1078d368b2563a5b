/** The directory of the embedded database. One process at a time may use it, and only its owner may read it. */
import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ConfigError } from '../config/config.ts'
import { EMBEDDED_PASSWORD_FILE, EMBEDDED_PORT_FILE } from '../postgres/address.ts'
import { errorMessageOf } from '../telemetry/describe-cause.ts'

const LOCK = 'lock'
/** The number of attempts. Another process may create the lock file between the removal of a stale one and the creation of a new one. */
const LOCK_ATTEMPTS = 3

/** Locks the directory, and creates it if necessary. Returns the path of the database's files. Throws if another running process holds the lock. */
export async function lockDataDir(dataDir: string): Promise<string> {
  const directory = resolve(dataDir)
  try {
    await mkdir(directory, { recursive: true })
    await chmod(directory, 0o700)
  } catch (error) {
    throw new ConfigError([
      `DATA_DIR must be a folder that this user owns or can create; ${directory} is not: ${errorMessageOf(error)}. Example: DATA_DIR=./data`,
    ])
  }
  await lock(join(directory, LOCK), dataDir)
  return join(directory, 'postgres')
}

async function lock(file: string, dataDir: string): Promise<void> {
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
    try {
      await writeFile(file, `${process.pid} ${startTimeOf(process.pid)}`, { flag: 'wx', mode: 0o600 })
      process.on('exit', () => rmSync(file, { force: true }))
      return
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    if ((await findLockOwner(dataDir)) !== null) break
    // A process that was killed left the file behind.
    await rm(file, { force: true })
  }
  throw new Error(
    `Process ${await findLockOwner(dataDir)} already uses ${resolve(dataDir)}. Stop it, set DATA_DIR to another folder, or set DATABASE_URL to share a real PostgreSQL.`,
  )
}

/** Returns the id of another running process that holds the lock; null if there is none. */
export async function findLockOwner(dataDir: string): Promise<number | null> {
  const [pid, start] = (await readFile(join(resolve(dataDir), LOCK), 'utf8').catch(() => '')).split(' ')
  const owner = Number(pid)
  if (!(owner > 0) || owner === process.pid || !isAlive(owner)) return null
  // The process id may have been reused since.
  return start === undefined || start === startTimeOf(owner) ? owner : null
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

/** Returns a process's start time, in ticks since boot: field 22 of its stat file. Returns '' if the system does not report it. */
function startTimeOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

/** Returns the embedded database's password. Creates it at first use, in a file that psql reads. */
export async function ensurePsqlPassword(dataDir: string): Promise<string> {
  const existing = await readPsqlPassword(dataDir)
  if (existing !== null) return existing
  const password = randomBytes(24).toString('base64url')
  const lines = ['127.0.0.1', 'localhost'].map(host => `${host}:*:*:postgres:${password}\n`)
  await writeFile(psqlPasswordPath(dataDir), lines.join(''), { mode: 0o600 })
  return password
}

/** Reads the password. Returns null if there is none yet. */
export async function readPsqlPassword(dataDir: string): Promise<string | null> {
  const text = await readFile(psqlPasswordPath(dataDir), 'utf8').catch(() => '')
  return /^127\.0\.0\.1:\*:\*:postgres:([\w-]+)$/m.exec(text)?.[1] ?? null
}

/** Returns the path of the password file, which has libpq's format. */
export function psqlPasswordPath(dataDir: string): string {
  return join(resolve(dataDir), EMBEDDED_PASSWORD_FILE)
}

/** Writes the port where psql reaches the database. Commands need it, because EMBEDDED_PG_PORT=0 chooses any port. */
export async function writePsqlPort(dataDir: string, port: number): Promise<void> {
  await writeFile(join(resolve(dataDir), EMBEDDED_PORT_FILE), String(port), { mode: 0o600 })
}
