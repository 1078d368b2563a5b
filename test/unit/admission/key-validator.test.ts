import { expect, test } from 'vitest'
import { createKeyValidator, hashBearerKey, isAddressAllowed } from '../../../src/admission/key-validator.ts'
import type { ResolvedKey, UnknownKey } from '../../../src/postgres/admit-requests.ts'
import { hashGoModelKey } from '../../../src/postgres/key-hash.ts'
import { createInProcessStore } from '../../../src/stores/in-process-store.ts'

const ADDRESS = '198.51.100.7'
const LIMIT = 120

/** Validates keys whose names begin with their verdicts. */
function openValidation() {
  const validated: string[] = []
  const keys = createKeyValidator(createInProcessStore(), {
    async validate(keyHash) {
      validated.push(keyHash)
      return { verdict: keyHash.split(' ')[0] } as ResolvedKey | UnknownKey
    },
  })
  const codeOf = (keyHash: string, address = ADDRESS) =>
    keys.validateUnknown(keyHash, address).then(
      () => null,
      ({ code }: { code: string }) => code,
    )
  return { keys, validated, codeOf }
}

test('reads a key from its header, whatever the case of the scheme', () => {
  const key = 'lgw_proj_0123456789'
  expect(hashBearerKey(`bearer  ${key} `, false)).toBe(Bun.SHA256.hash(key, 'hex'))
  for (const missing of [null, '', '  ']) expect(() => hashBearerKey(missing, true)).toThrow('Missing API key')
  for (const bad of [key, `Basic ${key}`, 'Bearer lgw_x_0123456789', 'Bearer lgw_proj_1', `Bearer ${key} ${key}`]) {
    expect(() => hashBearerKey(bad, false)).toThrow('Invalid API key')
  }
})

test('accepts a key of another format only while imported keys are accepted', () => {
  const key = 'sk-1234'
  expect(() => hashBearerKey(`Bearer ${key}`, false)).toThrow('Invalid API key')
  expect(hashBearerKey(`Bearer ${key}`, true)).toBe(Bun.SHA256.hash(key, 'hex'))
  for (const bad of [key, `Basic ${key}`, `Bearer ${key} ${key}`, 'Bearer schlüssel', `Bearer ${'x'.repeat(513)}`]) {
    expect(() => hashBearerKey(bad, true)).toThrow('Invalid API key')
  }
})

test('a key of GoModel is found by the hash of its rest, which no key of another text is', () => {
  const sha256 = (text: string) => Bun.SHA256.hash(text, 'hex')
  const hashOf = (key: string) => hashBearerKey(`Bearer ${key}`, true)
  const rest = 'Zx9v2Qm7Lp4Tn8Wb1Kc6Hd'
  const stored = hashGoModelKey(sha256(rest))
  expect(hashOf(`sk_gom_${rest}`)).toBe(stored)
  expect(hashGoModelKey(sha256(rest).toUpperCase())).toBe(stored)
  // A key of LiteLLM of the same text stays a key of its own, also if the prefix is put before it.
  expect(hashOf(rest)).toBe(sha256(rest))
  expect(hashOf('sk_gom_sk-1234')).not.toBe(hashOf('sk-1234'))
  const others = [
    rest,
    `sk_gom_${sha256(rest)}`,
    `sk_gom_sk_gom_${rest}`,
    `SK_GOM_${rest}`,
    `sk_gom_${rest}x`,
    'sk_gom_',
  ]
  for (const other of others) expect(hashOf(other)).not.toBe(stored)
})

test('each verdict has its error, and only an active key is cached', async () => {
  const { keys, codeOf } = openValidation()
  expect(await codeOf('unknown')).toBe('invalid_api_key')
  expect(await codeOf('expired')).toBe('invalid_api_key')
  expect(await codeOf('disabled')).toBe('api_key_disabled')
  expect(await codeOf('active')).toBeNull()
  const known = ['unknown', 'expired', 'disabled', 'active'].map(key => keys.findCached(key) !== null)
  expect(known).toEqual([false, false, false, true])
  keys.setCached('active', { verdict: 'unknown' })
  expect(keys.findCached('active')).toBeNull()
})

test('does not count existing keys as guessed ones', async () => {
  const { codeOf } = openValidation()
  for (let i = 0; i < LIMIT; i++) {
    expect([await codeOf(`active ${i}`), await codeOf(`disabled ${i}`)]).toEqual([null, 'api_key_disabled'])
  }
  for (let i = 0; i < LIMIT; i++) expect(await codeOf(`unknown ${i}`)).toBe('invalid_api_key')
  expect(await codeOf('unknown and one more')).toBe('rate_limit_exceeded')
  // A valid key from this address still passes, and other addresses are not affected.
  expect(await codeOf('active late')).toBeNull()
  expect(await codeOf('unknown elsewhere', '203.0.113.5')).toBe('invalid_api_key')
})

test('requests with one key from one address share one call', async () => {
  const { validated, codeOf } = openValidation()
  await Promise.all(Array.from({ length: 20 }, () => codeOf('active 1')))
  expect(validated).toEqual(['active 1'])
  // Requests from different addresses share no call.
  await Promise.all([ADDRESS, '203.0.113.5'].map(address => codeOf('active 2', address)))
  expect(validated).toEqual(['active 1', 'active 2', 'active 2'])
})

test('matches an address against a key’s networks, whatever its zone and form', () => {
  const mayCome = (address: string, networks: string[]) => isAddressAllowed(address, { allowed_addresses: networks })
  expect([mayCome('fe80::1%eth0', ['fe80::/10']), mayCome('fe80::1', ['fe80::/10'])]).toEqual([true, true])
  expect(mayCome('fe80::1%eth0', ['fec0::/10'])).toBe(false)
  expect([mayCome('10.0.0.1', ['10.0.0.0/8']), mayCome('::a00:1', ['10.0.0.0/8'])]).toEqual([true, false])
  expect([mayCome('192.0.2.7', ['192.0.2.7/32']), mayCome('192.0.2.8', ['192.0.2.7/32'])]).toEqual([true, false])
})
