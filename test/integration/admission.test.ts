import { expect, test } from 'vitest'
import { createAdmission } from '../../src/admission/admission.ts'
import { createQuota } from '../../src/admission/quota.ts'
import { createRateLimiter } from '../../src/admission/rate-limiter.ts'
import type { AdmissionInput } from '../../src/admission/request-counter.ts'
import { ProxyError } from '../../src/errors/errors.ts'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { describeBackends, type Stores } from '../harness/backends.ts'

const ADDRESS = '198.51.100.7'
/** Requests a minute of a key and of an address, and requests a month. */
const PLANS = {
  wide: '1000, 1000, 1000',
  narrow_key: '3, 1000, 1000',
  narrow_address: '1000, 3, 1000',
  small: '1000, 1000, 2',
}

/** Admission without a server, and a project on its own plan. */
async function openAdmission({ database, store }: Stores, plan: keyof typeof PLANS) {
  for (const [name, limits] of Object.entries(PLANS)) {
    await database.call(`insert into plans values ('${name}', ${limits}) on conflict do nothing`, [])
  }
  const project = `p-${crypto.randomUUID()}`
  const statements: string[] = []
  await callFunction(database, 'create_project', { project, plan })
  const keyHash = Bun.SHA256.hash(
    await callFunction(database, 'issue_key', { project, key_type: 'project', key_name: 'k' }),
    'hex',
  )
  const windows = createRateLimiter(store, {
    ...database,
    call(text, ...values) {
      statements.push(text)
      return database.call(text, ...values)
    },
  })
  let isFailing = false
  const failing: Database = {
    ...database,
    call(text, ...values) {
      statements.push(text)
      return isFailing ? Promise.reject(new Error('gone')) : database.call(text, ...values)
    },
  }
  const quota = createQuota(failing, windows)
  const importedKeys = { areAccepted: () => false }
  const admission = createAdmission({ store, windows, quota, importedKeys })
  const ofAnother = createAdmission({ store, windows, quota: createQuota(database, windows), importedKeys })
  const request = { keyHash, address: ADDRESS, exactKey: null }
  return {
    admit: (fields: Partial<AdmissionInput> = {}) => admission.admit({ ...request, ...fields }),
    /** Admits the request as another process does. */
    admitElsewhere: () => ofAnother.admit(request),
    /** The number of calls of a PostgreSQL function. */
    calls: (name: string) => statements.filter(text => text.includes(`${name}(`)).length,
    /** The code of the rejection, or null. */
    tryToAdmit: () =>
      admission.admit(request).then(
        () => null,
        (error: unknown) => (error instanceof ProxyError ? error.code : error),
      ),
    reserveQuota: (requests: number) => admission.reserveQuota(keyHash, requests),
    fail: (next: boolean) => {
      isFailing = next
    },
    run: (statement: string) => database.call(statement.replaceAll('$project', project), []),
    async counted() {
      await quota.settled()
      const [row] = await database.call<{ requests: number }>(
        `select coalesce(sum(c.requests), 0)::integer as requests
        from monthly_counters c join projects p on p.id = c.project_id where p.name = '${project}'`,
        [],
      )
      return row?.requests
    },
  }
}

describeBackends('admission', backend => {
  test.each(['narrow_key', 'narrow_address'] as const)(
    'a request counted under limits that changed meanwhile counts once, under the new ones: %s',
    async narrow => {
      const { admit, tryToAdmit, run, counted } = await openAdmission(await backend.open(), 'wide')
      const first = await admit()
      await run(`update projects set plan = '${narrow}' where name = '$project'`)
      // This process still has the former plan in memory. The database counts the month, so it knows the new plan.
      const second = await admit()
      const limits = ({ resolvedKey }: typeof first) =>
        Math.min(resolvedKey.requests_per_minute, resolvedKey.requests_per_minute_per_address)
      expect([limits(first), limits(second)]).toEqual([1000, 3])
      expect(await counted()).toBe(2)
      // It is not counted in its windows twice: the third of three requests still passes.
      expect(await tryToAdmit()).toBeNull()
      expect(await tryToAdmit()).toBe('rate_limit_exceeded')
      expect(await counted()).toBe(3)
    },
  )

  test.each(['narrow_key', 'narrow_address'] as const)(
    'a request for which the new limits leave nothing is rejected, although the old ones did: %s',
    async narrow => {
      const { admit, tryToAdmit, run, counted } = await openAdmission(await backend.open(), 'wide')
      for (let i = 0; i < 3; i++) await admit()
      await run(`update projects set plan = '${narrow}' where name = '$project'`)
      expect(await tryToAdmit()).toBe('rate_limit_exceeded')
      expect(await counted()).toBe(3)
    },
  )

  test('of many simultaneous requests, exactly those within the limit are admitted', async () => {
    const { admit, tryToAdmit, counted } = await openAdmission(await backend.open(), 'narrow_key')
    await admit()
    const codes = await Promise.all(Array.from({ length: 20 }, tryToAdmit))
    expect(codes.filter(code => code === null)).toHaveLength(2)
    expect(codes.filter(code => code === 'rate_limit_exceeded')).toHaveLength(18)
    expect(await counted()).toBe(3)
  })

  test('a request without a reply of the database uses nothing of the minute', async () => {
    const { admit, tryToAdmit, fail, counted } = await openAdmission(await backend.open(), 'narrow_key')
    await admit()
    fail(true)
    for (let i = 0; i < 5; i++) expect(await tryToAdmit()).toBe('service_unavailable')
    fail(false)
    expect([await tryToAdmit(), await tryToAdmit(), await tryToAdmit()]).toEqual([null, null, 'rate_limit_exceeded'])
    expect(await counted()).toBe(3)
  })

  test('more requests are counted at once, all or none, and can be refunded', async () => {
    const { reserveQuota, run, counted } = await openAdmission(await backend.open(), 'wide')
    const giveBack = await reserveQuota(600)
    await expect(reserveQuota(401)).rejects.toMatchObject({ code: 'monthly_quota_exceeded' })
    expect(await counted()).toBe(600)
    await reserveQuota(400)
    giveBack()
    expect(await counted()).toBe(400)
    expect(await reserveQuota(0)).toBeInstanceOf(Function)
    await run(
      `update api_keys set deactivated_at = now() where project_id = (select id from projects where name = '$project')`,
    )
    await expect(reserveQuota(1)).rejects.toMatchObject({ code: 'api_key_disabled' })
    expect(await counted()).toBe(400)
  })

  test('a request beyond the quota uses nothing of the minute', async () => {
    const { admit, tryToAdmit, run, counted } = await openAdmission(await backend.open(), 'small')
    await admit()
    await admit()
    for (let i = 0; i < 5; i++) expect(await tryToAdmit()).toBe('monthly_quota_exceeded')
    expect(await counted()).toBe(2)
    await run(`update projects set plan = 'narrow_key' where name = '$project'`)
    expect(await tryToAdmit()).toBeNull()
    expect(await tryToAdmit()).toBe('rate_limit_exceeded')
  })

  test('a lone request is counted in its month and its windows at once; if the windows reject it, it is refunded', async () => {
    const { admit, admitElsewhere, tryToAdmit, calls, counted } = await openAdmission(
      await backend.open(),
      'narrow_key',
    )
    await admit()
    await admitElsewhere()
    await admitElsewhere()
    expect(calls('refund_requests')).toBe(0)
    expect(await tryToAdmit()).toBe('rate_limit_exceeded')
    expect(await counted()).toBe(3)
    expect(calls('refund_requests')).toBe(1)
    // A key near its limit is counted in its windows first, so a rejected request costs PostgreSQL no write.
    expect(await tryToAdmit()).toBe('rate_limit_exceeded')
    expect(await counted()).toBe(3)
    expect(calls('refund_requests')).toBe(1)
  })

  test('the lookup of a lone request may begin while its month is counted, if it has no entry', async () => {
    const stores = await backend.open()
    const { admit } = await openAdmission(stores, 'wide')
    await stores.store.writeEntry('cache:1:0:there', new Uint8Array(1), 60_000)
    const called: string[] = []
    const onNone = (name: string) => () => void called.push(name)
    await admit({ exactKey: 'cache:1:0:gone', onEntryMissing: onNone('first') })
    await admit({ exactKey: 'cache:1:0:gone', onEntryMissing: onNone('second') })
    await admit({ exactKey: 'cache:1:0:there', onEntryMissing: onNone('has an entry') })
    await admit({ exactKey: null, onEntryMissing: onNone('wants none') })
    expect(called).toEqual(['second'])
    await Promise.all([1, 2].map(() => admit({ exactKey: 'cache:1:0:gone', onEntryMissing: onNone('together') })))
    expect(called).toEqual(['second'])
  })

  test('a key that was deactivated meanwhile is rejected, and nothing is counted', async () => {
    const { admit, tryToAdmit, run, counted } = await openAdmission(await backend.open(), 'narrow_key')
    await admit()
    await run(
      `update api_keys set deactivated_at = now() where project_id = (select id from projects where name = '$project')`,
    )
    for (let i = 0; i < 5; i++) expect(await tryToAdmit()).toBe('api_key_disabled')
    expect(await counted()).toBe(1)
  })

  test('a request counted before its key was marked is counted in the minute of all processes, too', async () => {
    const { admit, run, calls, counted } = await openAdmission(await backend.open(), 'wide')
    await admit()
    expect(calls('count_minute_requests')).toBe(0)
    // Simulates another process that is cut off from Redis.
    await run(
      `update api_keys set minute_counted_until = now() + interval '150 s' where project_id = (select id from projects where name = '$project')`,
    )
    await admit()
    expect([calls('count_minute_requests'), await counted()]).toEqual([1, 2])
  })

  test('a request that leaves makes room for another, and a rejected one used none', async () => {
    const { admit, tryToAdmit, run } = await openAdmission(await backend.open(), 'small')
    await run(`update plans set concurrent_requests = 2 where name = 'small'`)
    const [one] = [await admit(), await admit()]
    expect(await tryToAdmit()).toBe('concurrent_requests_exceeded')
    await run(`update plans set requests_per_month = 1000 where name = 'small'`)
    one.release()
    one.release()
    // One slot is free, although it was released twice.
    const { release } = await admit()
    expect(await tryToAdmit()).toBe('concurrent_requests_exceeded')
    release()
    // The monthly quota is used up, so both are rejected: the first rejection released its slot.
    await run(`update plans set requests_per_month = 2 where name = 'small'`)
    for (let i = 0; i < 2; i++) expect(await tryToAdmit()).toBe('monthly_quota_exceeded')
  })
})
