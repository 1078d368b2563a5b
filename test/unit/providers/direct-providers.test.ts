import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createDirectProviders, type DirectProviders } from '../../../src/providers/direct-providers.ts'
import type { Provider, UpstreamRequest } from '../../../src/providers/upstream.ts'
import { SEEDED_VENDORS } from '../../harness/vendors.ts'

const request = { endpoint: 'chat' } as UpstreamRequest
/** Stored provider keys by project id. */
let stored: Map<number, string>
let openKey: ReturnType<typeof vi.fn<(owner: { projectId: number }) => Promise<string | null>>>
let protectedOnes: number
let calledKeys: string[]
let direct: DirectProviders

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  // `lru-cache` treats a start time of 0 as no time to live, so the fake clock must not stand at 0.
  vi.advanceTimersByTime(1)
  stored = new Map([[1, 'sk-one']])
  openKey = vi.fn(async ({ projectId }) => stored.get(projectId) ?? null)
  protectedOnes = 0
  calledKeys = []
  direct = createDirectProviders({
    decryptKey: openKey,
    findVendor: name => SEEDED_VENDORS.find(name),
    installationKeys: { read: async () => null, renew: () => false },
    guard: (_, provider) => provider,
    connect: ({ name }, { apiKey }) => ({
      name,
      pricedAs: name,
      async send() {
        calledKeys.push(apiKey ?? '')
        return { status: 200, headers: new Headers(), body: new ReadableStream(), isStorable: () => true }
      },
    }),
    protect(provider: Provider) {
      protectedOnes++
      return provider
    },
    retry: provider => provider,
    onKeyCooldown() {},
  })
})
afterEach(() => {
  direct.close()
  vi.useRealTimers()
})

const KEYS = { direct_providers: ['openai', 'groq'], named_provider_keys: null }
const of = (project_id: number, provider_keys_version: number) =>
  direct.resolve('openai', { project_id, provider_keys_version, ...KEYS })

describe('a direct provider', () => {
  test('is one object per key, created once when first needed', async () => {
    const provider = of(1, 5)
    expect(provider).toMatchObject({ name: 'openai', pricedAs: 'openai' })
    expect(of(1, 5)).toBe(provider)
    expect(openKey).not.toHaveBeenCalled()
    await Promise.all(Array.from({ length: 10 }, () => of(1, 5).send(request)))
    expect(openKey).toHaveBeenCalledExactlyOnceWith({ projectId: 1, provider: 'openai' }, null)
    expect([protectedOnes, calledKeys.length]).toEqual([1, 10])
  })

  test('is another for a new version, and for another project or provider', async () => {
    const provider = of(1, 5)
    stored.set(2, 'sk-two')
    expect(of(2, 5)).not.toBe(provider)
    expect(direct.resolve('groq', { project_id: 1, provider_keys_version: 5, ...KEYS })).not.toBe(provider)
    await of(1, 5).send(request)
    stored.set(1, 'sk-new')
    expect(of(1, 6)).not.toBe(provider)
    await of(1, 6).send(request)
    await of(2, 5).send(request)
    expect(calledKeys).toEqual(['sk-one', 'sk-new', 'sk-two'])
  })

  test('does not return to an older key for a request with an older record', async () => {
    const newer = of(1, 6)
    expect(of(1, 5)).toBe(newer)
  })

  test('discards the decrypted key after a while, and decrypts it again', async () => {
    await of(1, 5).send(request)
    vi.advanceTimersByTime(50_000)
    await of(1, 5).send(request)
    expect(openKey).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(30_000)
    await of(1, 5).send(request)
    expect(openKey).toHaveBeenCalledTimes(2)
    expect(protectedOnes).toBe(1)
  })

  test('caches no failure: the next request tries again', async () => {
    openKey.mockRejectedValueOnce(new Error('away'))
    await expect(of(1, 5).send(request)).rejects.toThrow('away')
    expect((await of(1, 5).send(request)).status).toBe(200)
  })

  test('reports that the key was removed since', async () => {
    stored.clear()
    await expect(of(1, 5).send(request)).rejects.toMatchObject({ status: 404, code: 'model_not_found' })
  })
})
