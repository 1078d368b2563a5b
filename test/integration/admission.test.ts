import { expect, test } from 'vitest'
import { createAdmission } from '../../src/admission/admission.ts'
import { createQuota } from '../../src/admission/quota.ts'
import { createRateWindows } from '../../src/admission/rate-windows.ts'
import { ProxyError } from '../../src/errors.ts'
import { createProject, issueKey } from '../../src/postgres/projects.ts'
import { describeBackends, type Stores } from '../harness/backends.ts'

const ADDRESS = '198.51.100.7'
/** Requests a minute of a key and an address, then a month. */
const PLANS = { wide: '1000, 1000, 1000', narrow: '3, 1000, 1000', small: '1000, 1000, 2' }

/** Admission with nothing around it, and a project on a plan of its own. */
async function openAdmission({ database, store }: Stores, plan: keyof typeof PLANS) {
  for (const [name, limits] of Object.entries(PLANS)) {
    await database.call(`insert into plans values ('${name}', ${limits}) on conflict do nothing`, [])
  }
  const project = `p-${crypto.randomUUID()}`
  await createProject(database, project, plan)
  const keyHash = Bun.SHA256.hash(await issueKey(database, project, 'project', 'k'), 'hex')
  const windows = createRateWindows(store)
  const quota = createQuota(database, windows)
  const admission = createAdmission({ store, windows, quota })
  return {
    admit: () => admission.admit(keyHash, ADDRESS, null),
    /** The code of the refusal, or null. */
    tryToAdmit: () =>
      admission.admit(keyHash, ADDRESS, null).then(
        () => null,
        (error: unknown) => (error instanceof ProxyError ? error.code : error),
      ),
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
  test('a request that was counted under limits that changed meanwhile counts once, under the new ones', async () => {
    const { admit, tryToAdmit, run, counted } = await openAdmission(await backend.open(), 'wide')
    const first = await admit()
    await run(`update projects set plan = 'narrow' where name = '$project'`)
    // This process still takes the plan for the wide one; the database, which counts the month, knows better.
    const second = await admit()
    expect([first.account.requests_per_minute, second.account.requests_per_minute]).toEqual([1000, 3])
    expect(await counted()).toBe(2)
    // Nor is it in its windows twice: the third of three still passes.
    expect(await tryToAdmit()).toBeNull()
    expect(await tryToAdmit()).toBe('rate_limit_exceeded')
    expect(await counted()).toBe(3)
  })

  test('a request beyond the month takes nothing of the minute', async () => {
    const { admit, tryToAdmit, run, counted } = await openAdmission(await backend.open(), 'small')
    await admit()
    await admit()
    for (let i = 0; i < 5; i++) expect(await tryToAdmit()).toBe('monthly_quota_exceeded')
    expect(await counted()).toBe(2)
    await run(`update projects set plan = 'narrow' where name = '$project'`)
    expect(await tryToAdmit()).toBeNull()
    expect(await tryToAdmit()).toBe('rate_limit_exceeded')
  })

  test('a key that was deactivated meanwhile is refused, and nothing is counted', async () => {
    const { admit, tryToAdmit, run, counted } = await openAdmission(await backend.open(), 'narrow')
    await admit()
    await run(
      `update api_keys set deactivated_at = now() where project_id = (select id from projects where name = '$project')`,
    )
    for (let i = 0; i < 5; i++) expect(await tryToAdmit()).toBe('api_key_disabled')
    expect(await counted()).toBe(1)
  })

  test('one that leaves makes room for another, and one that was refused took none', async () => {
    const { admit, tryToAdmit, run } = await openAdmission(await backend.open(), 'small')
    await run(`update plans set concurrent_requests = 2 where name = 'small'`)
    const [one] = [await admit(), await admit()]
    expect(await tryToAdmit()).toBe('concurrent_requests_exceeded')
    one.leave()
    one.leave()
    // Beyond the month, twice: the place was free again after the first.
    for (let i = 0; i < 2; i++) expect(await tryToAdmit()).toBe('monthly_quota_exceeded')
  })
})
