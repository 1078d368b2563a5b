import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ensurePsqlPassword, findLockOwner, lockDataDir, psqlPasswordPath } from '../../../src/process/data-dir.ts'

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'model-proxy-data-'))
})
afterEach(async () => {
  await rm(dataDir, { recursive: true })
})

const lock = () => join(dataDir, 'lock')

/** The start time of the process, as `/proc` states it. */
async function startOf(pid: number): Promise<string> {
  return (await readFile(`/proc/${pid}/stat`, 'latin1')).replace(/^.*\) /s, '').split(' ')[19] ?? ''
}

test('rejects a directory that a running process holds, and names the process', async () => {
  await writeFile(lock(), `${process.ppid} ${await startOf(process.ppid)}`)
  expect(await findLockOwner(dataDir)).toBe(process.ppid)
  await expect(lockDataDir(dataDir)).rejects.toThrow(`Process ${process.ppid} already uses ${dataDir}`)
})

test.each([
  ['of a process that has ended', async () => `${Bun.spawnSync(['true']).pid} 1`],
  ['whose process id now belongs to another process', async () => `${process.ppid} 1`],
  ['that was never written', async () => ''],
])('a lock file %s prevents no start', async (_, content) => {
  await writeFile(lock(), await content())
  await chmod(dataDir, 0o777)
  await lockDataDir(dataDir)
  expect(await readFile(lock(), 'utf8')).toBe(`${process.pid} ${await startOf(process.pid)}`)
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700)
})

test('creates the password once, readable only by its owner', async () => {
  const password = await ensurePsqlPassword(dataDir)
  expect(password).toMatch(/^[\w-]{32}$/)
  expect(await ensurePsqlPassword(dataDir)).toBe(password)
  const file = psqlPasswordPath(dataDir)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readFile(file, 'utf8')).toContain(`127.0.0.1:*:*:postgres:${password}\n`)
})

test('rejects an impossible directory by the name of its setting', async () => {
  await writeFile(lock(), '')
  await expect(lockDataDir(lock())).rejects.toThrow(/DATA_DIR must be a folder .*\. Example: DATA_DIR=/)
})
