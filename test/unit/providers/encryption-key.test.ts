import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readEncryptionKeys } from '../../../src/providers/keys/encryption-key.ts'

let folder: string
const config = () => ({
  databaseUrl: null,
  dataDir: join(folder, 'data'),
  encryptionKey: null,
  encryptionKeyNext: null,
  encryptionKeyPrevious: null,
})

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'model-proxy-key-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('embedded and unset: is created once, readable only by its owner', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => readEncryptionKeys(config())))
  const made = new Set(all.map(({ current }) => Buffer.from(current ?? []).toString('hex')))
  expect(made.size).toBe(1)
  expect([...made][0]).toMatch(/^[0-9a-f]{64}$/)
  expect((await stat(join(folder, 'data', 'encryption.key'))).mode & 0o777).toBe(0o600)
  expect(await readdir(join(folder, 'data'))).toEqual(['encryption.key'])
})

test('ENCRYPTION_KEY has precedence over the file, and creates none', async () => {
  const encryptionKey = new Uint8Array(32).fill(3)
  expect((await readEncryptionKeys({ ...config(), encryptionKey })).current).toBe(encryptionKey)
  expect(await readdir(folder)).toEqual([])
})

test('with a real database there is no file', async () => {
  const keys = await readEncryptionKeys({ ...config(), databaseUrl: 'postgres://127.0.0.1/x' })
  expect(keys).toEqual({ current: null, others: [] })
  expect(await readdir(folder)).toEqual([])
})

test('reports a file without a valid key, and does not replace it', async () => {
  await readEncryptionKeys(config())
  const file = join(folder, 'data', 'encryption.key')
  await writeFile(file, 'c2hvcnQ=\n')
  await expect(readEncryptionKeys(config())).rejects.toThrow(/encryption\.key must contain 32 bytes in base64/)
  expect(await Bun.file(file).text()).toBe('c2hvcnQ=\n')
})
