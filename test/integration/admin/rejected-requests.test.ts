import { expect, test } from 'vitest'
import { describeBackends } from '../../harness/backends.ts'
import { ask } from '../../harness/client.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { addUser, issueAdminKey, send } from './people.ts'

describeBackends('rejected requests', backend => {
  const proxy = duringTests(() => startProxy({ dashboard: true, stores: backend.open() }))

  test('are counted by reason, over several processes, for administrators', async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    const authorization = `Bearer ${await issueAdminKey(proxy, 'root@example.org')}`
    const read = async () =>
      (await send(proxy, 'GET', '/v1/organization/refusals', { headers: { authorization } })).json
    expect(await read()).toEqual({ object: 'list', data: [], has_more: false })
    const other = await startProxy({ dashboard: true, stores: proxy.stores })
    for (const each of [proxy, proxy, other]) await ask(each, 'lgw_proj_nobody', 'Hello')
    const key = await proxy.createKey({ project: 'refused' })
    await proxy.query(`select deactivate_key('${key}')`)
    await ask(proxy, key, 'Hello')
    await Promise.all([proxy.settle(), other.stop()])
    const { data } = await read()
    expect(data).toMatchObject([
      { reason: 'invalid_api_key', requests: 3 },
      { reason: 'api_key_disabled', requests: 1, project_name: 'refused', recorded_requests: 0 },
    ])
    expect(data[0]).toMatchObject({ project_id: null, project_name: null, api_key_id: null, recorded_requests: 0 })
    // A second run does not write the same rejections again.
    await proxy.settle()
    expect((await read()).data).toEqual(data)
    const span = await send(proxy, 'GET', '/v1/organization/refusals?start_time=5&end_time=5', {
      headers: { authorization },
    })
    expect([span.status, span.json.data]).toEqual([200, []])
  })

  test('are all counted for their project and key, and those that records keep are counted apart', async () => {
    await addUser(proxy, 'counter@example.org', 'owner')
    const headers = { authorization: `Bearer ${await issueAdminKey(proxy, 'counter@example.org')}` }
    const keys = [await proxy.createKey({ project: 'busy' }), await proxy.createKey({ project: 'calm' })]
    // Another key of a project, and another reason of a key, have rows of their own.
    const [another] = await proxy.query<{ key: string }>(`select issue_key('busy', 'project', 'another') as key`)
    keys.push(another?.key ?? '')
    for (const key of keys)
      await proxy.query(`select set_key_limits(find_key('${key}'), '{"allowed_models": ["none-*"]}')`)
    const REJECTED = [70, 5, 2]
    for (const [place, key] of keys.entries())
      for (let i = 0; i < (REJECTED[place] ?? 0); i++) expect((await ask(proxy, key, 'Hello')).status).toBe(403)
    await proxy.query(`select set_key_limits(find_key('${keys[1]}'), '{"requests_per_minute": 1}')`)
    await expect.poll(async () => (await ask(proxy, keys[1] ?? '', 'Hello')).status).toBe(429)
    await proxy.settle()
    const { data } = (await send(proxy, 'GET', '/v1/organization/refusals', { headers })).json
    const counts = data.filter((row: { reason: string }) => row.reason === 'model_not_allowed')
    // Each side has the same rows: the list those of the sums, the sums those of the requests that were sent.
    expect(counts).toMatchObject([
      { project_name: 'busy', requests: 70 },
      { project_name: 'calm', recorded_requests: counts[1].requests },
      { project_name: 'busy', requests: 2, recorded_requests: 2 },
    ])
    expect(counts[1].requests).toBeGreaterThanOrEqual(5)
    const [sums] = await proxy.query(
      `select sum(requests)::integer as requests, count(distinct key_id)::integer as keys from rejections_hourly where reason = 'model_not_allowed'`,
    )
    expect(sums).toEqual({ requests: 72 + counts[1].requests, keys: 3 })
    for (const { project_id, api_key_id, recorded_requests } of counts) {
      const query = `project_id=${project_id}&api_key_id=${api_key_id}&error_code=model_not_allowed&limit=100`
      const list = await send(proxy, 'GET', `/v1/requests?${query}`, { headers })
      expect(list.json.data.length).toBe(recorded_requests)
    }
    // Thirty a minute: the test may have run for several minutes.
    expect(counts[0].recorded_requests).toBeGreaterThanOrEqual(30)
    // Those of other processes, which recorded none of them.
    await proxy.query(
      `select record_rejections('{model_not_allowed,model_not_allowed}', array[h, h], '{60,40}') from encode(sha256('${keys[0]}'), 'hex') h`,
    )
    const [more] = (await send(proxy, 'GET', '/v1/organization/refusals', { headers })).json.data
    expect(more).toMatchObject({ ...counts[0], requests: 170 })
  })

  test('of the admin API too; guesses at its keys and sessions are limited, without harm to valid callers', async () => {
    await addUser(proxy, 'other@example.org', 'owner')
    const key = await issueAdminKey(proxy, 'other@example.org')
    const ask = async (headers: Record<string, string>) =>
      (await send(proxy, 'GET', '/v1/organization/refusals', { headers })).status
    const holder = { authorization: `Bearer ${key}` }
    expect(await ask(holder)).toBe(200)
    const guesses = Array.from({ length: 140 }, (_, i) =>
      i % 2 === 0
        ? { authorization: `Bearer lgw_admin_${'x'.repeat(29)}${100 + i}` }
        : { cookie: `model_proxy_session=${'x'.repeat(40)}${100 + i}` },
    )
    const statuses = []
    for (const guess of guesses) statuses.push(await ask(guess))
    expect(statuses).toEqual(guesses.map((_, i) => (i < 120 ? 401 : 429)))
    expect(await ask(holder)).toBe(200)
    await proxy.settle()
    const { data } = (await send(proxy, 'GET', '/v1/organization/refusals', { headers: holder })).json
    expect(data).toContainEqual(expect.objectContaining({ reason: 'invalid_admin_key', requests: 120 }))
    expect(data).toContainEqual(expect.objectContaining({ reason: 'rate_limit_exceeded', requests: 20 }))
  })
})
