/** Spares a proxy process the making of its embedded database, where its first start is not what is tested: two seconds of processor time. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { inject } from 'vitest'

/** Lays down what a first start would have made. */
export async function fillDataDir(dataDir: string): Promise<void> {
  const folder = join(dataDir, 'postgres')
  await mkdir(folder, { mode: 0o700 })
  const unpacking = Bun.spawn(['tar', '-xf', inject('embeddedTemplate'), '-C', folder], { stderr: 'ignore' })
  if ((await unpacking.exited) !== 0) throw new Error('The template of the embedded database could not be unpacked')
}
