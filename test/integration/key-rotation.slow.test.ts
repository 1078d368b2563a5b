/** The rotation of ENCRYPTION_KEY as described in docs/providers.md, with two processes that are restarted one after the other. */
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import { listSealed, SEALED_CONTENTS, SEALED_SECRETS } from '../../src/postgres/sealed-rows.ts'
import { createVault } from '../../src/providers/keys/vault.ts'
import { decodeSealedText } from '../../src/stores/content-seal.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { type ProxyProcess, startProxyProcess } from '../faults/proxy-process.ts'
import { describeReal, type Stores } from '../harness/backends.ts'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { ask, get, post, readAnswer } from '../harness/client.ts'
import { storeKey, TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { SEALED_COLUMNS } from '../harness/sealed-columns.ts'
import { waitUntil } from '../harness/wait-until.ts'

const SERVER = fileURLToPath(new URL('../../src/process/server.ts', import.meta.url))
const [before, now] = [TEST_ENCRYPTION_KEY, randomBytes(32).toString('base64')]
/** The settings that each process is started with, in turn. */
const OLD = { ENCRYPTION_KEY: before }
const FIRST = { ENCRYPTION_KEY: before, ENCRYPTION_KEY_NEXT: now }
const SECOND = { ENCRYPTION_KEY: now, ENCRYPTION_KEY_PREVIOUS: before }
const NEW = { ENCRYPTION_KEY: now }
/** Its copy in Redis is not read before the old key is removed, so it is not signed with the new key. */
const UNREAD = 'How tall do sunflowers grow?'
const QUESTIONS = [
  'How do whales sleep?',
  'Translate the word bread into Finnish.',
  'Name three prime numbers above ninety.',
  'Why was the lighthouse of Alexandria built?',
  'Write a haiku about rusty bicycles.',
  'Which spices belong into garam masala?',
  'Summarize the rules of curling.',
  'What does a carburettor do?',
]
const SETTINGS = { seal_answers: 'on', log_content: 'sealed', semantic_threshold: '0.5', semantic_policy: 'threshold' }

test('reseals everything that seal_answers seals', () => {
  const answers = SEALED_CONTENTS.filter(({ type }) => type === 'text')
  const columns = answers.flatMap(({ table, columns }) => columns.map(column => `${table}.${column}`))
  expect(columns.toSorted()).toEqual(SEALED_COLUMNS)
})

describeReal('a rotation of the encryption key', backend => {
  const fakeProvider = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  let stores: Stores
  let environment: Record<string, string>
  let key: string

  beforeAll(async () => {
    stores = await backend.open()
    environment = {
      DATABASE_URL: stores.databaseUrl ?? '',
      REDIS_URL: stores.redisUrl ?? '',
      ...fakeProvider.environment,
    }
    await callFunction(stores.database, 'create_project', { project: 'acme', plan: 'pro' })
    for (const [setting, value] of Object.entries(SETTINGS))
      await callFunction(stores.database, 'set_setting', { project: 'acme', setting, value })
    key = await callFunction(stores.database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'test' })
  })

  const start = (keys: Record<string, string>) => startProxyProcess({ ...environment, ...keys })

  async function restart(proxy: ProxyProcess, keys: Record<string, string>): Promise<ProxyProcess> {
    await stop(proxy)
    return start(keys)
  }
  /** Stops a proxy, and expects that it raised no alarm. */
  async function stop(proxy: ProxyProcess): Promise<void> {
    expect(await (await get(proxy, '/health')).json()).toMatchObject({ dependencies: { redis: { wrongTags: 0 } } })
    proxy.signal('SIGTERM')
    await proxy.ended()
    expect(proxy.output()).not.toContain('wrong integrity tag')
  }

  async function countSealed(vaultKey: string): Promise<{ opened: number; others: number }> {
    const vault = createVault(async () => ({ current: Buffer.from(vaultKey, 'base64'), others: [] }))
    const counted = { opened: 0, others: 0 }
    for (const table of [...SEALED_SECRETS, ...SEALED_CONTENTS]) {
      for await (const { value, ...owner } of listSealed(stores.database, table)) {
        const bytes = table.type === 'text' ? decodeSealedText(value) : Buffer.from(value.slice(2), 'hex')
        const isOpen = await vault.open(bytes, owner).then(
          () => true,
          () => false,
        )
        counted[isOpen ? 'opened' : 'others']++
      }
    }
    return counted
  }

  async function reseal(keys: Record<string, string>): Promise<string> {
    const command = Bun.spawn([process.execPath, SERVER, 'reseal'], {
      env: { ...bareEnvironment(), ...environment, ...keys },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const printed = await new Response(command.stdout).text()
    expect(await command.exited).toBe(0)
    return printed
  }

  test('loses nothing and raises no alarm, whichever process is restarted first', async () => {
    const questions: string[] = []
    /** Sends a new question to one proxy and then all questions to both. The other one has hits too. */
    async function askBoth(one: ProxyProcess, other: ProxyProcess): Promise<void> {
      const question = QUESTIONS[questions.length] ?? ''
      const first = await ask(one, key, question)
      expect(first.cache).toBe('MISS')
      questions.push(question)
      await waitUntil('the response is stored', async () => (await ask(other, key, question)).cache === 'HIT')
      for (const asked of questions) {
        for (const proxy of [one, other]) expect([asked, (await ask(proxy, key, asked)).cache]).toEqual([asked, 'HIT'])
      }
    }

    await storeKey(stores, 'acme', 'openai', 'sk-kept-all-along')
    let one = await start(OLD)
    let other = await start(OLD)
    await readAnswer(await post(one, key, '/responses', { model: 'openai/gpt-4o-mini', input: 'Keep this.' }))
    await ask(one, key, UNREAD)
    await waitUntil('the response is stored', async () => (await ask(other, key, UNREAD)).cache === 'HIT')
    await askBoth(one, other)
    for (const keys of [FIRST, SECOND]) {
      one = await restart(one, keys)
      await askBoth(one, other)
      await askBoth(other, one)
      other = await restart(other, keys)
      await askBoth(other, one)
    }
    const { others } = await countSealed(now)
    expect(others).toBeGreaterThan(3)
    expect(await reseal(SECOND)).toMatch(
      /^Secrets: 1 re-encrypted, 0 unchanged, 0 failed\nResponses and contents: \d+ /,
    )
    expect(await countSealed(now)).toMatchObject({ opened: expect.any(Number), others: 0 })
    one = await restart(one, NEW)
    other = await restart(other, NEW)
    await askBoth(one, other)
    expect((await ask(one, key, UNREAD)).cache).toBe('HIT')
    await stop(one)
    await stop(other)
  })
})
