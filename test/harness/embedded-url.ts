/** Returns the URL of the embedded database of a proxy in another process. */
import { readPsqlPassword } from '../../src/process/data-dir.ts'

export async function embeddedUrl(dataDir: string, port: number | string): Promise<string> {
  return `postgres://postgres:${await readPsqlPassword(dataDir)}@127.0.0.1:${port}/postgres`
}
