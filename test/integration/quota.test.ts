import { expect, test } from 'vitest'
import { createQuota } from '../../src/admission/quota.ts'
import { AnswerLost, type Database } from '../../src/postgres/database.ts'
import { createProject, issueKey } from '../../src/postgres/projects.ts'
import { describeBackends } from '../harness/backends.ts'
import { waitUntil } from '../harness/wait-until.ts'

const NO_WINDOWS = { underWay: () => null }

/** What becomes of the statements that reserve; the database itself always does its work. */
type Fate = 'answered' | 'late' | 'lost'

/** A quota over the database, whose replies to reservations can be held back or lost. */
function openQuota(database: Database) {
  let fate: Fate = 'answered'
  const held: (() => void)[] = []
  const moody: Database = {
    ...database,
    // A server's time limit, on either backend.
    backend: 'real',
    async call(text, values, options) {
      const rows = await database.call<never>(text, values, options)
      if (!text.includes('admit(') || fate === 'answered') return rows
      if (fate === 'lost') throw new AnswerLost('swallowed')
      await new Promise<void>(resolve => held.push(resolve))
      return rows
    },
  }
  return {
    quota: createQuota(moody, NO_WINDOWS),
    become: (next: Fate) => {
      fate = next
    },
    release: () => {
      for (const resolve of held) resolve()
    },
    heldReplies: () => held.length,
  }
}

/** A project with so many requests a month, and one key. */
async function createAccount(database: Database, perMonth: number) {
  const name = `p-${crypto.randomUUID()}`
  await database.call(`insert into plans values ('${name}', 1000, 1000, ${perMonth})`, [])
  await createProject(database, name, name)
  const keyHash = Bun.SHA256.hash(await issueKey(database, name, 'project', 'k'), 'hex')
  return {
    keyHash,
    async counted() {
      const [row] = await database.call<{ requests: number }>(
        `select coalesce(sum(c.requests), 0)::integer as requests
        from monthly_counters c join projects p on p.id = c.project_id where p.name = '${name}'`,
        [],
      )
      return row?.requests
    },
    deactivate: () =>
      database.call(
        `update api_keys set deactivated_at = now() where project_id = (select id from projects where name = '${name}')`,
        [],
      ),
  }
}

const UNAVAILABLE = { code: 'service_unavailable' }

describeBackends('quota', backend => {
  test('reserves all the requests that are asked for, or none', async () => {
    const { database } = await backend.open()
    const { keyHash, counted } = await createAccount(database, 10)
    const { quota } = openQuota(database)
    const asked = [8, 3, 1, 1, 1].map(requests => quota.reserve(keyHash, requests))
    const replies = await Promise.all(asked)
    // They travel together: what is too little for three is left for those that ask for one.
    expect(replies.map(({ reserved }) => reserved)).toEqual([true, false, true, true, false])
    await quota.settled()
    expect(await counted()).toBe(10)
    for (const [i, { account, reserved }] of replies.entries()) {
      if (reserved) quota.refund(account, [8, 3, 1, 1, 1][i])
    }
    await quota.settled()
    expect(await counted()).toBe(0)
  })

  test('what is too little for one that asks for several does not stay counted', async () => {
    const { database } = await backend.open()
    const { keyHash, counted } = await createAccount(database, 10)
    const { quota } = openQuota(database)
    expect(await quota.reserve(keyHash, 9_000)).toMatchObject({ reserved: false, account: { verdict: 'active' } })
    await quota.settled()
    expect(await counted()).toBe(0)
  })

  test('a key that is not active reserves nothing, alone or among others', async () => {
    const { database } = await backend.open()
    const [good, bad] = [await createAccount(database, 10), await createAccount(database, 10)]
    const { quota } = openQuota(database)
    await bad.deactivate()
    const verdicts = async (...asked: ReturnType<typeof quota.reserve>[]) =>
      (await Promise.all(asked)).map(({ reserved, account }) => `${account.verdict} ${reserved}`)
    expect(await verdicts(quota.reserve(bad.keyHash, 2))).toEqual(['disabled false'])
    expect(await verdicts(quota.reserve('ab'.repeat(32)))).toEqual(['unknown false'])
    expect(await verdicts(quota.reserve(good.keyHash), quota.reserve(bad.keyHash))).toEqual([
      'active true',
      'disabled false',
    ])
    expect([await good.counted(), await bad.counted()]).toEqual([1, 0])
  })

  test.each(['late', 'lost'] as const)('a reply that is %s is a 503, and what it granted is given back', async fate => {
    const { database } = await backend.open()
    const { keyHash, counted } = await createAccount(database, 10_000)
    const { quota, become, release, heldReplies } = openQuota(database)
    become(fate)
    const [one, many] = await Promise.allSettled([quota.reserve(keyHash), quota.reserve(keyHash, 9_000)])
    expect([one, many].map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(one.status === 'rejected' && Promise.reject(one.reason)).rejects.toMatchObject(UNAVAILABLE)
    expect(await counted()).toBe(9_001)
    become('answered')
    release()
    if (fate === 'late') expect(heldReplies()).toBeGreaterThan(0)
    await quota.settled()
    await waitUntil('both are given back', 10_000, async () => (await counted()) === 0)
    // And once: the next one finds the month as it was.
    expect(await quota.reserve(keyHash, 10_000)).toMatchObject({ reserved: true })
    expect(await counted()).toBe(10_000)
  })

  test('a database that refuses counts nothing, and is asked again under the same slot', async () => {
    const { database } = await backend.open()
    const { keyHash, counted } = await createAccount(database, 10)
    let isRefusing = true
    const refusing: Database = {
      ...database,
      call: (text, values, options) =>
        isRefusing && text.includes('admit(')
          ? Promise.reject(Object.assign(new Error('refused'), { code: '57P03' }))
          : database.call(text, values, options),
    }
    const quota = createQuota(refusing, NO_WINDOWS)
    await expect(quota.reserve(keyHash)).rejects.toMatchObject(UNAVAILABLE)
    isRefusing = false
    expect(await quota.reserve(keyHash)).toMatchObject({ reserved: true })
    await quota.settled()
    expect(await counted()).toBe(1)
  })
})
