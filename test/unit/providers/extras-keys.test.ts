import { expect, test } from 'vitest'
import type { EncryptionKeys } from '../../../src/providers/keys/encryption-key.ts'
import { createExtrasKeyDerivation } from '../../../src/providers/keys/encryption-key.ts'

const [OLD, NEW] = [Buffer.alloc(32, 'old'), Buffer.alloc(32, 'new')]

function derive({ current = null, others = [] }: Partial<EncryptionKeys>, installationId = 'an-id') {
  return createExtrasKeyDerivation(
    async () => ({ current, others }),
    async () => installationId,
  )
}

test('derives the same keys in every process, and others for each provider, model and encryption key', async () => {
  const keys = await Promise.all([
    derive({ current: OLD })('groq', 'a/model'),
    derive({ current: OLD })('groq', 'a/model'),
    derive({ current: OLD })('groq', 'another/model'),
    derive({ current: OLD })('openai', 'a/model'),
    derive({ current: OLD })('groq a/model', 'b'),
    derive({ current: OLD })('groq', 'a/model b'),
    derive({ current: NEW })('groq', 'a/model'),
  ])
  expect(keys[0]).toEqual(keys[1])
  expect(new Set(keys.flat()).size).toBe(6)
  expect(keys.flat().join()).not.toContain(OLD.toString('base64'))
})

test('verifies with the other keys of a rotation, and creates with the current one', async () => {
  const [before] = await derive({ current: OLD })('groq', 'm')
  const [current] = await derive({ current: NEW })('groq', 'm')
  expect(await derive({ current: NEW, others: [OLD] })('groq', 'm')).toEqual([current, before])
})

test('uses the installation id if no encryption key is set', async () => {
  const keys = await derive({}, 'one')('groq', 'm')
  expect(keys).toHaveLength(1)
  expect(await derive({}, 'one')('groq', 'm')).toEqual(keys)
  expect(await derive({}, 'another')('groq', 'm')).not.toEqual(keys)
})

test('reads the secrets once, and again after a failure', async () => {
  let reads = 0
  const keysOf = createExtrasKeyDerivation(
    async () => {
      if (++reads === 1) throw new Error('unreadable')
      return { current: OLD, others: [] }
    },
    async () => 'an-id',
  )
  await expect(keysOf('groq', 'm')).rejects.toThrow('unreadable')
  const keys = await derive({ current: OLD })('groq', 'm')
  for (let time = 0; time < 2; time++) expect(await keysOf('groq', 'm')).toEqual(keys)
  expect(reads).toBe(2)
})
