/** The folder of the embedded database, which one process at a time may use. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** Folder of the database's files, made if need be. Throws when another living process holds it. */
export async function lockDataDir(dataDir: string): Promise<string> {
  const directory = resolve(dataDir)
  await mkdir(directory, { recursive: true })
  const lockFile = join(directory, 'lock')
  const holder = Number(await readFile(lockFile, 'utf8').catch(() => ''))
  if (holder > 0 && holder !== process.pid && isAlive(holder)) {
    throw new Error(
      `Process ${holder} already uses ${directory}. Stop it, set DATA_DIR to another folder, or set DATABASE_URL to share a real PostgreSQL.`,
    )
  }
  await writeFile(lockFile, String(process.pid))
  process.on('exit', () => {
    rm(lockFile, { force: true }).catch(() => {})
  })
  return join(directory, 'postgres')
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
