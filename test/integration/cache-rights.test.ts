/** Rights to judge, refresh and purge, as in the table of docs/sharing.md. */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeBackends } from '../harness/backends.ts'
import { type Answer, ask, post } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { addUser, issueAdminKey, logIn, send } from './admin/people.ts'

const QUESTION = 'Explain how photosynthesis works in the leaves of green plants, with photographs'
const OTHER_WORDS = 'Explain how photosynthesis works in the leaves of green plants, with a photograph'
const OPEN = { semantic_threshold: '0.5', cache_feedback: 'any' }
const CALLERS = ['project', 'test', 'viewer', 'member', 'owner', 'operator']
const FEEDBACK = ['any', 'members', 'none']
const REFRESH = ['any', 'none']

describeBackends('rights to judge, refresh and purge', backend => {
  const fakeProvider = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  const proxy = duringTests(() =>
    startProxy({ dashboard: true, stores: backend.open(), environment: fakeProvider.environment }),
  )
  let project: string
  let key: string
  let testKey: string
  let rootKey: string

  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    rootKey = await issueAdminKey(proxy, 'root@example.org')
  })
  beforeEach(async () => {
    project = `p-${crypto.randomUUID().slice(0, 8)}`
    key = await proxy.createKey({ project, type: 'project', settings: OPEN })
    testKey = await proxy.createKey({ project, type: 'test' })
  })

  const set = (setting: string, value: string) =>
    proxy.query(`select set_setting('${project}', '${setting}', '${value}')`)
  const body = (content: string, fields = {}) => ({
    model: 'openai/gpt-4o-mini',
    messages: [{ role: 'user' as const, content }],
    ...fields,
  })
  /** Stores the question, and returns the semantic hit of its other wording. */
  async function hit(by = key, fields = {}, headers: Record<string, string> = {}): Promise<Answer> {
    await ask(proxy, by, body(QUESTION, fields), headers)
    await proxy.settle()
    const answer = await ask(proxy, by, body(OTHER_WORDS, fields), headers)
    await proxy.settle()
    expect(answer.cache).toBe('HIT-SEMANTIC')
    return answer
  }
  const cacheOf = async (by = key, fields = {}, headers: Record<string, string> = {}) =>
    (await ask(proxy, by, body(OTHER_WORDS, fields), { ...headers, 'x-proxy-cache-ttl': '0' })).cache
  const idOf = (answer: Answer) => answer.headers.get('x-request-id') ?? ''
  const judge = async (by: string, request_id: string, fields = {}, headers: Record<string, string> = {}) =>
    (await post(proxy, by, '/cache/feedback', { request_id, verdict: 'wrong', ...fields }, { headers })).status
  const idOfProject = async () =>
    `proj_${(await proxy.query<{ id: number }>(`select find_project('${project}') as id`))[0]?.id}`

  test('the documented table is the enforced one', async () => {
    const text = await Bun.file(new URL('../../docs/sharing.md', import.meta.url)).text()
    const [, table = ''] = /\n\| who \| `judge` \| `refresh` \| `purge` \|\n\|[-|]+\n((?:\|.*\n)+)/.exec(text) ?? []
    const rows = table
      .trim()
      .split('\n')
      .map(line => line.split('|').map(cell => cell.trim().replaceAll('`', '')))
    expect(rows.map(([, who = '']) => who.split(' ')[0]?.replace(',', ''))).toEqual(CALLERS)
    for (const feedback of FEEDBACK) {
      for (const refresh of REFRESH) {
        await set('cache_feedback', feedback)
        await set('cache_refresh', refresh)
        const documented = rows.flatMap(([, , ...cells], at) =>
          ['judge', 'refresh', 'purge']
            .filter((action, column) => {
              const choices = (cells[column] ?? '').split(', ')
              return choices[0] === 'yes' || choices.includes(action === 'judge' ? feedback : refresh)
            })
            .map(action => `${CALLERS[at]} ${action}`),
        )
        const enforced = await proxy.query<{ right: string }>(
          `select caller || ' ' || action as right from cache_rights where project_id = find_project('${project}')`,
        )
        expect(enforced.map(({ right }) => right).sort(), `${feedback} ${refresh}`).toEqual(documented.sort())
      }
    }
  })

  test.each(FEEDBACK)(
    'each kind of caller judges as the table says: cache_feedback %s',
    async feedback => {
      await set('cache_feedback', feedback)
      const rights = await proxy.query<{ caller: string }>(
        `select caller from cache_rights where project_id = find_project('${project}') and action = 'judge'`,
      )
      const may = (caller: string) => rights.some(right => right.caller === caller)
      expect(may('operator')).toBe(true)

      expect(await judge(key, idOf(await hit()), { verdict: 'right' })).toBe(may('project') ? 200 : 403)
      expect(await judge(testKey, idOf(await hit(testKey)), { verdict: 'right' })).toBe(may('test') ? 200 : 403)

      const id = await idOfProject()
      const say = async (by: (path: string, body: unknown) => ReturnType<typeof send>, request_id: string) =>
        (await by('/v1/cache/verdicts', { project_id: id, request_id, verdict: 'right' })).status
      const request = idOf(await hit(key, { max_tokens: 9 }))
      for (const role of ['viewer', 'member', 'owner'] as const) {
        const email = `${role}-${project}@example.org`
        await addUser(proxy, email, 'reader')
        await proxy.query(`select add_member('${project}', '${email}', '${role}')`)
        const browser = await logIn(proxy, email)
        expect([role, await say((path, body) => browser.send('POST', path, body), request)]).toEqual([
          role,
          may(role) ? 200 : 403,
        ])
      }
      const stranger = `stranger-${project}@example.org`
      await addUser(proxy, stranger, 'reader')
      const browser = await logIn(proxy, stranger)
      expect(await say((path, body) => browser.send('POST', path, body), request)).toBe(404)
      const byAdminKey = (path: string, body: unknown) =>
        send(proxy, 'POST', path, { body, headers: { authorization: `Bearer ${rootKey}` } })
      expect(await say(byAdminKey, request)).toBe(may('owner') ? 200 : 403)
      await proxy.query(`select give_feedback('${project}', '${request}', 'wrong')`)
    },
    120_000,
  )

  test('a key judges only hits of its own scope', async () => {
    const other = await proxy.createKey({ project, type: 'project' })
    const elsewhere = await proxy.createKey({ type: 'project', settings: OPEN })
    const revoked = await proxy.createKey({ project, type: 'project' })
    await proxy.query(`select deactivate_key('${revoked}')`)
    const wrong = { request_id: 'unknown' }

    const shared = idOf(await hit())
    expect(await judge(testKey, shared)).toBe(404)
    expect(await judge(elsewhere, shared)).toBe(404)
    expect(await judge(revoked, shared)).toBe(403)
    expect(await judge(key, wrong.request_id)).toBe(404)
    expect(await judge(key, shared, {}, { 'x-proxy-cache-namespace': 'a' })).toBe(404)
    expect(await cacheOf()).toBe('HIT-SEMANTIC')

    const sandbox = idOf(await hit(testKey))
    expect(await judge(key, sandbox)).toBe(404)
    expect(await judge(testKey, sandbox)).toBe(200)
    expect([await cacheOf(testKey), await cacheOf()]).toEqual(['MISS', 'HIT-SEMANTIC'])

    await set('cache_scope', 'user')
    const alices = idOf(await hit(key, { user: 'alice' }))
    for (const [by, fields] of [
      [key, { user: 'bob' }],
      [key, {}],
      [other, {}],
      [testKey, { user: 'alice' }],
      [elsewhere, { user: 'alice' }],
    ] as const)
      expect([fields, await judge(by, alices, fields)]).toEqual([fields, 404])
    expect(await cacheOf(key, { user: 'alice' })).toBe('HIT-SEMANTIC')
    expect(await judge(other, alices, { user: 'alice' })).toBe(200)
    expect(await cacheOf(key, { user: 'alice' })).toBe('MISS')
    // A second, equal verdict has no further effect.
    expect(await judge(other, alices, { user: 'alice' })).toBe(200)

    await set('cache_scope', 'key')
    const own = idOf(await hit())
    expect([await judge(other, own), await judge(testKey, own)]).toEqual([404, 404])
    expect(await judge(key, own)).toBe(200)

    await set('cache_scope', 'project')
    expect(await judge(other, idOf(await hit(key, { max_tokens: 7 })))).toBe(200)
    expect(await cacheOf(key, { max_tokens: 7 })).toBe('MISS')
  }, 120_000)

  test('stores a verdict only of its own scope, by namespace and kind of key', async () => {
    const named = { 'x-proxy-cache-namespace': 'team-a' }
    const inNamespace = idOf(await hit(key, {}, named))
    await hit()
    expect(await judge(key, inNamespace)).toBe(404)
    expect(await judge(key, inNamespace, {}, { 'x-proxy-cache-namespace': 'team-b' })).toBe(404)
    expect(await judge(key, inNamespace, {}, named)).toBe(200)
    expect([await cacheOf(key, {}, named), await cacheOf()]).toEqual(['MISS', 'HIT-SEMANTIC'])
  })

  test('one request id in two scopes names the hit of the caller’s', async () => {
    const same = { 'x-request-id': `same-${project}` }
    await hit(key, {}, same)
    await hit(testKey, {}, same)
    expect(await judge(key, same['x-request-id'])).toBe(200)
    expect([await cacheOf(testKey), await cacheOf()]).toEqual(['HIT-SEMANTIC', 'MISS'])
  })
})
