import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { EncryptionKeys } from '../../../src/providers/keys/encryption-key.ts'
import { createVault, sealKey } from '../../../src/providers/keys/vault.ts'
import { openSecret, sealSecret } from '../../../src/stores/seal.ts'

const owner = { projectId: 7, provider: 'openai' }
const secret = 'sk-proj-0123456789'
const key = randomBytes(32)

describe('the sealed form', () => {
  test('opens with the same key for the same owner, and reveals nothing of the secret', () => {
    const sealed = sealSecret(secret, owner, key)
    expect(openSecret(sealed, owner, key)).toBe(secret)
    expect(sealed).toHaveLength(1 + 12 + secret.length + 16)
    expect(sealed[0]).toBe(1)
    for (const part of ['sk-proj', '0123']) expect(Buffer.from(sealed).includes(part)).toBe(false)
  })

  test('differs each time', () => {
    const forms = Array.from({ length: 50 }, () => Buffer.from(sealSecret(secret, owner, key)).toString('hex'))
    expect(new Set(forms).size).toBe(50)
  })

  test.each([
    ['another project', { ...owner, projectId: 8 }],
    ['another provider', { ...owner, provider: 'groq' }],
  ])('does not open for %s', (_, other) => {
    expect(openSecret(sealSecret(secret, owner, key), other, key)).toBeNull()
  })

  test('does not open with another key', () => {
    expect(openSecret(sealSecret(secret, owner, key), owner, randomBytes(32))).toBeNull()
  })

  test('does not open when any bit of it was changed, or any byte is missing', () => {
    const sealed = sealSecret(secret, owner, key)
    for (let at = 0; at < sealed.length; at++) {
      const changed = Uint8Array.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(openSecret(changed, owner, key)).toBeNull()
      expect(openSecret(sealed.subarray(0, at), owner, key)).toBeNull()
    }
  })
})

describe('the vault', () => {
  const keys = (current: Uint8Array | null, previous: Uint8Array | null = null) =>
    createVault(async (): Promise<EncryptionKeys> => ({ current, others: previous ? [previous] : [] }))

  test('opens what either key sealed, and seals again what the previous one did', async () => {
    const [before, now] = [randomBytes(32), randomBytes(32)]
    const sealed = await keys(before).seal(secret, owner)
    const rotated = keys(now, before)
    expect(await rotated.open(sealed, owner)).toBe(secret)
    const resealed = await rotated.reseal(sealed, owner)
    if (!resealed) throw new Error('It was sealed with the previous key')
    expect(await keys(now).open(resealed, owner)).toBe(secret)
    expect(await rotated.reseal(resealed, owner)).toBeNull()
  })

  test.each([
    [secret, '6789'],
    ['sk-short-12', '****'],
  ])('shows the last four characters of %s only if they are a small part of it', async (text, last_four) => {
    expect(await sealKey(keys(key), text, owner)).toEqual({
      sealed: expect.any(Uint8Array),
      last_four,
    })
  })

  test('names ENCRYPTION_KEY if there is none', async () => {
    const message = /openai key cannot be (stored|used): the operator must set ENCRYPTION_KEY/
    await expect(keys(null).seal(secret, owner)).rejects.toThrow(message)
    await expect(keys(null).open(Uint8Array.of(1), owner)).rejects.toMatchObject({ status: 503 })
  })

  test('says what to do if no key fits', async () => {
    const sealed = await keys(randomBytes(32)).seal(secret, owner)
    const vault = keys(randomBytes(32), randomBytes(32))
    await expect(vault.open(sealed, owner)).rejects.toThrow(/encrypted with another ENCRYPTION_KEY\. Store it again/)
    await expect(vault.reseal(sealed, owner)).rejects.toThrow(/neither ENCRYPTION_KEY nor another key of the rotation/)
  })

  test('reads the keys again after a failure', async () => {
    let attempts = 0
    const vault = createVault(async () => {
      if (++attempts === 1) throw new Error('no such folder')
      return { current: key, others: [] }
    })
    await expect(vault.seal(secret, owner)).rejects.toThrow(/no such folder/)
    expect(await vault.open(await vault.seal(secret, owner), owner)).toBe(secret)
    expect(attempts).toBe(2)
  })
})
