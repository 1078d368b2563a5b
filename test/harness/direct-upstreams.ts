/** Fake providers for every provider that a proxy can reach, and provider keys for projects. */

import { callFunction } from '../../src/postgres/call.ts'
import { createVault } from '../../src/providers/keys/vault.ts'
import { type FakeAnthropic, startFakeAnthropic } from '../fake-anthropic/server.ts'
import { type FakeProvider, startFakeProvider } from '../fake-provider/server.ts'
import type { Stores } from './backends.ts'

export interface Upstreams {
  aggregator: FakeProvider
  openai: FakeProvider
  groq: FakeProvider
  anthropic: FakeAnthropic
  /** Settings that make a proxy use the fake providers. */
  environment: Record<string, string>
  /** Clears scripted responses and recorded requests. */
  reset(): void
  stop(): Promise<void>
}

/** The encryption key of all tests. */
export const TEST_ENCRYPTION_KEY = Buffer.alloc(32, 'tests').toString('base64')

export async function startUpstreams(): Promise<Upstreams> {
  const [aggregator, openai, groq, anthropic] = await Promise.all([
    startFakeProvider({ flavour: 'aggregator' }),
    startFakeProvider(),
    startFakeProvider({ flavour: 'groq' }),
    startFakeAnthropic(),
  ])
  const all = [aggregator, openai, groq, anthropic]
  return {
    aggregator,
    openai,
    groq,
    anthropic,
    environment: {
      ...aggregator.environment,
      OPENAI_BASE_URL: openai.baseUrl,
      GROQ_BASE_URL: groq.baseUrl,
      ANTHROPIC_BASE_URL: anthropic.baseUrl,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    },
    reset() {
      for (const fakeProvider of all) fakeProvider.reset()
    },
    async stop() {
      await Promise.all(all.map(fakeProvider => fakeProvider.stop()))
    },
  }
}

/** Stores a provider key as the command does. */
export async function storeKey(
  { database }: Pick<Stores, 'database'>,
  project: string,
  provider: string,
  secret: string,
  { encryptionKey = TEST_ENCRYPTION_KEY, name = 'default', weight = null as number | null } = {},
): Promise<void> {
  const current = Buffer.from(encryptionKey, 'base64')
  const owner = { projectId: await callFunction(database, 'find_project', { project }), provider }
  const sealed = await createVault(async () => ({ current, others: [] })).seal(secret, owner)
  const key = { owner_id: owner.projectId, provider, sealed, last_four: secret.slice(-4), name, weight }
  await callFunction(database, 'store_provider_key', key)
}
