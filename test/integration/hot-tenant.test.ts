import { expect, test } from 'vitest'
import { createQuota, type Quota } from '../../src/admission/quota.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { describeReal } from '../harness/backends.ts'

const PROCESSES = 16
const ROUNDS = 8
const AT_ONCE = 5
const REQUESTS = PROCESSES * ROUNDS * AT_ONCE
const DISK_MICROSECONDS = 30_000

describeReal('one project, used by sixteen processes on a slow disk', backend => {
  test.for([
    ['far from the end of its month', 1_000_000_000, REQUESTS],
    ['at the end, where each count is on disk first', REQUESTS, REQUESTS],
    ['beyond the end', REQUESTS / 2, REQUESTS / 2],
  ] as const)(
    '%s: no process treats its counter as locked by an operator',
    async ([, perMonth, served], { onTestFinished }) => {
      const { database, databaseUrl } = await backend.open()
      await database.runScript(`do $$ begin
      execute format('alter database %I set commit_delay = ${DISK_MICROSECONDS}', current_database());
      execute format('alter database %I set commit_siblings = 0', current_database());
    end $$;
    insert into plans values ('hot', 1000000, 1000000, ${perMonth})
      on conflict (name) do update set requests_per_month = excluded.requests_per_month`)
      await callFunction(database, 'create_project', { project: 'hot', plan: 'hot' })
      const keyHash = Bun.SHA256.hash(
        await callFunction(database, 'issue_key', { project: 'hot', key_type: 'project', key_name: 'k' }),
        'hex',
      )
      const outcomes: Record<string, number> = {}
      async function ask(quota: Quota): Promise<void> {
        const outcome = await quota.reserve(keyHash).then(
          ({ reserved }) => (reserved ? 'served' : 'used up'),
          error => String(error.code ?? error),
        )
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
      }
      const quotas = Array.from({ length: PROCESSES }, () => {
        const opened = openServerDatabase({ url: databaseUrl ?? '', maxConnections: 2 })
        onTestFinished(() => opened.close())
        return createQuota(opened, { inFlight: () => null })
      })
      await Promise.all(
        quotas.map(async quota => {
          for (let i = 0; i < ROUNDS; i++) await Promise.all(Array.from({ length: AT_ONCE }, () => ask(quota)))
        }),
      )
      await Promise.all(quotas.map(quota => quota.settled()))
      expect(outcomes).toEqual(served < REQUESTS ? { served, 'used up': REQUESTS - served } : { served })
      expect(await database.call('select requests::integer from monthly_counters', [])).toEqual([{ requests: served }])
    },
  )
})
