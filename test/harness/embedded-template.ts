/** The migrated database that each worker's embedded one starts from. It is kept on disk and created once for each schema. */
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openEmbeddedDatabase } from '../../src/postgres/embedded/embedded.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { OLDER_PARTITION } from './older-partition.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const FOLDER = join(ROOT, 'node_modules/.cache/model-proxy')
/** All inputs of the template: the schema, the migration code, and PGlite with its extensions, whose versions the lock file contains. */
const MADE_OF = [
  'sql/**/*.sql',
  'src/postgres/mig*.ts',
  'src/postgres/embedded/embedded-worker.ts',
  'test/harness/{embedded-template,older-partition}.ts',
  'bun.lock',
]
const KEEP_MS = 7 * 86_400_000

/**
 * Returns the path of the dump. Two processes can create it at the same time: their dumps are equal, and a rename replaces the file as a
 * whole.
 */
export async function prepareEmbeddedTemplate(): Promise<string> {
  const path = join(FOLDER, `template-${await digestSources()}.tar`)
  if (await Bun.file(path).exists()) return path
  await mkdir(FOLDER, { recursive: true })
  await forgetOld()
  const unfinished = join(FOLDER, `unfinished-${crypto.randomUUID()}.tar`)
  const database = await openEmbeddedDatabase({ directory: null, psql: null })
  await migrate(database)
  await database.runScript(OLDER_PARTITION)
  await Bun.write(unfinished, await database.dump())
  await database.close()
  await rename(unfinished, path)
  return path
}

async function digestSources(): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256')
  for (const pattern of MADE_OF) {
    for (const path of [...new Bun.Glob(pattern).scanSync(ROOT)].sort()) {
      const text = await Bun.file(join(ROOT, path)).text()
      hasher.update(`${path} ${text.length}\n${text}`)
    }
  }
  return hasher.digest('hex').slice(0, 16)
}

/** Deletes templates of schemas that no test has created for a week. */
async function forgetOld(): Promise<void> {
  for (const name of await readdir(FOLDER)) {
    const path = join(FOLDER, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (Date.now() - mtimeMs > KEEP_MS) await rm(path, { force: true })
  }
}
