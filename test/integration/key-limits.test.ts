/** A key's own limit, the headers that report it, and rotated keys. */
import { expect, test } from 'vitest'
import { describeBackends } from '../harness/backends.ts'
import { ask } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

describeBackends('keys', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open() }))

  const limitsOf = ({ headers }: { headers: Headers }) =>
    ['limit', 'remaining', 'reset'].map(what => headers.get(`x-ratelimit-${what}-requests`))

  test('responses and errors report the remaining requests of the lower of two limits', async () => {
    const key = await proxy.createKey()
    await proxy.query(`select set_key_limits(find_key('${key}'), '{"requests_per_minute": 4}')`)
    const answers = [
      await ask(proxy, key, 'One?'),
      await ask(proxy, key, 'One?'),
      await ask(proxy, key, { model: 'no-such-model', messages: [{ role: 'user', content: 'x' }] }),
    ]
    expect(answers.map(({ status, cache }) => [status, cache])).toEqual([
      [200, 'MISS'],
      [200, 'HIT'],
      [404, null],
    ])
    expect(answers.map(limitsOf)).toEqual([
      ['4', '3', '60s'],
      ['4', '2', '60s'],
      ['4', '1', '60s'],
    ])
    expect([(await ask(proxy, key, 'One?')).status, (await ask(proxy, key, 'One?')).status]).toEqual([200, 429])
    await proxy.query(`select set_key_limits(find_key('${key}'), '{"requests_per_minute": null}')`)
    expect((await ask(proxy, key, 'One?')).status).toBe(200)
  })

  test('a rotated key keeps its id, limit and counters, and its former value works during the grace period', async () => {
    const former = await proxy.createKey()
    await proxy.query(`select set_key_limits(find_key('${former}'), '{"requests_per_minute": 5}')`)
    await ask(proxy, former, 'One?')
    const rotate = async (key: string, grace: number) => {
      const [row] = await proxy.query<{ value: string }>(
        `select rotate_key(find_key('${key}'), make_interval(secs => ${grace})) as value`,
      )
      return row?.value ?? ''
    }
    const key = await rotate(former, 3_600)
    expect(key).toMatch(/^lgw_test_/)
    expect(limitsOf(await ask(proxy, key, 'One?'))).toEqual(['5', '3', '60s'])
    expect(limitsOf(await ask(proxy, former, 'One?'))).toEqual(['5', '2', '60s'])
    await proxy.settle()
    const used = await proxy.query(`select distinct key_id::text as id from usage_records
      where project_id = (select project_id from api_keys where id = find_key('${key}'))`)
    expect(used).toEqual(await proxy.query(`select find_key('${key}')::text as id`))
    await expect(rotate(former, 0)).rejects.toThrow(/is not active, or a former value of another/)
    // A former value expires by itself, and together with its key.
    await proxy.query(`update api_keys set expires_at = now() where prefix = left('${former}', 17)`)
    expect([(await ask(proxy, former, 'One?')).status, (await ask(proxy, key, 'One?')).status]).toEqual([401, 200])
    const last = await rotate(key, 3_600)
    await proxy.query(`select deactivate_key('${last}')`)
    expect([(await ask(proxy, key, 'One?')).status, (await ask(proxy, last, 'One?')).status]).toEqual([403, 403])
    const unique = await proxy.createKey()
    await rotate(unique, 0)
    expect((await ask(proxy, unique, 'One?')).status).toBe(401)
  })
})
