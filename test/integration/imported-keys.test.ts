/** Keys of another gateway, which were imported by their SHA-256: accepted in any format until a date that the operator sets. */
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import { describeBackends } from '../harness/backends.ts'
import { get, readAnswer } from '../harness/client.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

const MODEL = 'gpt-4o'
const hashOf = (key: string) => Bun.SHA256.hash(key, 'hex')

interface ImportedKey {
  key: string
  expires_at?: string | null
  blocked?: boolean
  requests_per_minute?: number
}

const upstreams = duringTests(startUpstreams)

describeBackends('imported keys', backend => {
  const proxy = duringTests(() =>
    startProxy({
      stores: backend.open(),
      environment: { ...upstreams.environment, AGGREGATOR_BASE_URL: upstreams.environment.OPENAI_BASE_URL ?? '' },
      refreshVendorsMs: 20,
    }),
  )

  function importKeys(keys: readonly ImportedKey[], options: Record<string, unknown> = {}) {
    return callFunction(proxy.stores.database, 'import_accounts', {
      document: {
        ...{ gateway: 'litellm', plan: 'pro', has_all_keys: false, vendors: [], vendor_keys: [], budgets: [] },
        projects: [{ id: 'team-1', name: 'search', settings: {}, members: [] }],
        keys: keys.map(({ key, expires_at = null, blocked = false, requests_per_minute = 7 }) => ({
          ...{
            hash: hashOf(key),
            former_of: null,
            project: 'team-1',
            name: key.slice(-8),
            prefix: `sk-...${key.slice(-4)}`,
          },
          ...{ created_at: null, expires_at, blocked, requests_per_minute },
          ...{ tokens_per_minute: null, allowed_models: null },
        })),
        ...options,
      },
    })
  }

  /** Returns the key's status at a model list and at a chat request; the error's code if it is rejected. */
  function statusesOf(key: string): Promise<string[]> {
    const client = new OpenAI({ apiKey: key, baseURL: proxy.baseUrl, maxRetries: 0 })
    return Promise.all(
      [
        () => client.models.list(),
        () => client.chat.completions.create({ model: MODEL, messages: [{ role: 'user', content: 'Hi' }] }),
      ].map(send =>
        send().then(
          () => 'accepted',
          error => {
            if (!(error instanceof OpenAI.APIError)) throw error
            return error.status === 401 || error.status === 403 ? `${error.status} ${error.code}` : 'accepted'
          },
        ),
      ),
    )
  }

  async function statusOf(key: string): Promise<string> {
    const [status = '', other] = await statusesOf(key)
    expect(other).toBe(status)
    return status
  }

  /** Meanwhile, one of two requests at the same time may have another status. */
  const becomes = (key: string, status: string) =>
    waitUntil(`the key is ${status}`, async () => (await statusesOf(key)).every(found => found === status))

  test('without imported keys, rejects a key of another format before any lookup', async () => {
    expect(await statusOf('sk-never-imported')).toBe('401 invalid_api_key')
    await callFunction(proxy.stores.database, 'create_project', { project: 'own', plan: 'pro' })
    // Its hash is known, but it was not imported.
    await proxy.stores.database.call(
      `insert into api_keys (project_id, key_hash, prefix, type, name)
       select id, sha256('sk-inserted-by-hand'), 'sk-', 'project', 'by hand' from projects where name = 'own'`,
      [],
    )
    expect(await statusOf('sk-inserted-by-hand')).toBe('401 invalid_api_key')
  })

  test('accepts an imported key of any format, and no other', async () => {
    const sk = `sk-${crypto.randomUUID()}`
    const own = `our.own/format:${crypto.randomUUID()}=`
    await importKeys([{ key: sk }, { key: own }])
    await becomes(sk, 'accepted')
    expect(await statusOf(own)).toBe('accepted')
    expect(await statusOf(`${sk}x`)).toBe('401 invalid_api_key')
    expect(await statusOf(`lgw_proj_${'0'.repeat(32)}`)).toBe('401 invalid_api_key')
    const issued = await proxy.createKey({ type: 'project' })
    expect(await statusOf(issued)).toBe('accepted')
  })

  test('rejects one that is blocked with 403, and one that has expired with 401', async () => {
    const [valid, blocked, expired] = ['valid', 'blocked', 'expired'].map(
      name => `sk-${name}-${crypto.randomUUID()}`,
    ) as [string, string, string]
    await importKeys([
      { key: valid },
      { key: blocked, blocked: true },
      { key: expired, expires_at: new Date(Date.now() - 60_000).toISOString() },
    ])
    await becomes(valid, 'accepted')
    expect(await statusOf(blocked)).toBe('403 api_key_disabled')
    expect(await statusOf(expired)).toBe('401 invalid_api_key')
    await importKeys([{ key: valid, blocked: true }])
    expect(await statusOf(valid)).toBe('403 api_key_disabled')
    // Deactivated here: an import does not restore it.
    await importKeys([{ key: valid }])
    expect(await statusOf(valid)).toBe('403 api_key_disabled')
    // Nor does one that changes its limits.
    await importKeys([{ key: valid, requests_per_minute: 8 }])
    expect(await statusOf(valid)).toBe('403 api_key_disabled')
    const [changed] = await proxy.query(
      `select requests_per_minute from api_keys where key_hash = decode('${hashOf(valid)}', 'hex')`,
    )
    expect(changed).toEqual({ requests_per_minute: 8 })
  })

  test('expires at the operator’s date, and not before one is set', async () => {
    const [early, late] = ['early', 'late'].map(name => `sk-${name}-${crypto.randomUUID()}`) as [string, string]
    await importKeys([{ key: early }])
    await becomes(early, 'accepted')
    const issued = await proxy.createKey({ type: 'project' })
    await importKeys([], { keys_until: new Date(Date.now() - 1_000).toISOString() })
    expect(await statusOf(early)).toBe('401 invalid_api_key')
    expect(await statusOf(issued)).toBe('accepted')
    // The date applies to keys that are imported later.
    await importKeys([{ key: late }])
    expect(await statusOf(late)).toBe('401 invalid_api_key')
    await importKeys([], { keys_until: null })
    await becomes(late, 'accepted')
  })

  test('rotating one issues a key of this format, and a later import does not restore the former value', async () => {
    const key = `sk-${crypto.randomUUID()}`
    await importKeys([{ key }])
    await becomes(key, 'accepted')
    const read = `select id, redacted_value from api_keys where imported_hash = decode('${hashOf(key)}', 'hex')`
    const [{ id, redacted_value } = { id: 0 }] = await proxy.query<{ id: number; redacted_value: string }>(read)
    expect(redacted_value).toBe(`sk-...${key.slice(-4)}`)
    const rotated = await callFunction(proxy.stores.database, 'rotate_key', { of_key: id, grace: 'PT0S' })
    expect(await proxy.query(read)).toEqual([{ id, redacted_value: `${rotated.slice(0, 17)}…` }])
    expect(rotated).toMatch(/^lgw_proj_/)
    expect(await statusOf(rotated)).toBe('accepted')
    await importKeys([{ key }], { keys_until: new Date(Date.now() - 1_000).toISOString() })
    expect(await statusOf(key)).toBe('401 invalid_api_key')
    expect(await statusOf(rotated)).toBe('accepted')
    await importKeys([], { keys_until: null })
    expect(await statusOf(key)).toBe('401 invalid_api_key')
    // What happened to the former value at its gateway does not concern the key that was issued here.
    await importKeys([{ key, expires_at: new Date(Date.now() - 60_000).toISOString() }])
    expect(await statusOf(rotated)).toBe('accepted')
    await importKeys([{ key, blocked: true }])
    expect(await statusOf(rotated)).toBe('accepted')
  })

  test('shows one as its former gateway did, also as the former value of a rotated key', async () => {
    const key = `sk-${crypto.randomUUID()}`
    const shown = `sk-...${key.slice(-4)}`
    await importKeys([{ key }])
    await becomes(key, 'accepted')
    const labelOf = async (value: string) => (await readAnswer(await get(proxy, '/key', value))).json.data.label
    const list = () =>
      proxy.query<{ id: string; redacted_value: string }>(
        `select id, redacted_value from project_api_keys where name like '${key.slice(-8)}%' order by created_at`,
      )
    const [listed] = await list()
    expect([listed?.redacted_value, await labelOf(key)]).toEqual([shown, shown])
    const of_key = Number(listed?.id.replace('key_', ''))
    const rotated = await callFunction(proxy.stores.database, 'rotate_key', { of_key, grace: 'PT1H' })
    const shownNow = `${rotated.slice(0, 17)}…`
    expect((await list()).map(({ redacted_value }) => redacted_value).toSorted()).toEqual([shownNow, shown].toSorted())
    expect([await labelOf(key), await labelOf(rotated)]).toEqual([shown, shownNow])
  })

  test('deactivates a key that its gateway no longer has', async () => {
    const [kept, deleted] = ['kept', 'deleted'].map(name => `sk-${name}-${crypto.randomUUID()}`) as [string, string]
    await importKeys([{ key: kept }, { key: deleted }])
    await becomes(deleted, 'accepted')
    await importKeys([{ key: kept }], { has_all_keys: true })
    expect(await statusOf(kept)).toBe('accepted')
    expect(await statusOf(deleted)).toBe('403 api_key_disabled')
  })
})
