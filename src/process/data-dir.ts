/** The folder of the embedded database, which one process at a time may use. */
import { rmSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

const LOCK = 'lock'

/** Folder of the database's files, made if need be. Throws when another living process holds it. */
export async function lockDataDir(dataDir: string): Promise<string> {
  const directory = resolve(dataDir)
  await mkdir(directory, { recursive: true })
  const lockFile = join(directory, LOCK)
  const holder = await findHolder(dataDir)
  if (holder !== null) {
    throw new Error(
      `Process ${holder} already uses ${directory}. Stop it, set DATA_DIR to another folder, or set DATABASE_URL to share a real PostgreSQL.`,
    )
  }
  await writeFile(lockFile, String(process.pid))
  process.on('exit', () => {
    rmSync(lockFile, { force: true })
  })
  return join(directory, 'postgres')
}

/** Process id of another living process that holds the folder; null where there is none. */
export async function findHolder(dataDir: string): Promise<number | null> {
  const holder = Number(await readFile(join(resolve(dataDir), LOCK), 'utf8').catch(() => ''))
  return holder > 0 && holder !== process.pid && isAlive(holder) ? holder : null
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
