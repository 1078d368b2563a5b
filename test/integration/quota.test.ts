import { expect, test } from 'vitest'
import { createQuota } from '../../src/admission/quota.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { type Database, ReplyLost } from '../../src/postgres/database.ts'
import { describeBackends } from '../harness/backends.ts'
import { waitUntil } from '../harness/wait-until.ts'

const NO_WINDOWS = { inFlight: () => null }

/** The replies to reservations and refunds: received, late or lost. The database itself always executes them. */
type Fate = 'answered' | 'late' | 'lost'

/** A quota over a database. Replies to statements that match `fated` can be delayed or lost. */
function openQuota(database: Database, backend = database.backend, fated = /admit\(|refund_requests\(/) {
  let fate: Fate = 'answered'
  const held: (() => void)[] = []
  const unreliable: Database = {
    ...database,
    backend,
    async call(text, values) {
      const rows = await database.call<never>(text, values)
      if (!fated.test(text) || fate === 'answered') return rows
      if (fate === 'lost') throw new ReplyLost('swallowed')
      await new Promise<void>(resolve => held.push(resolve))
      return rows
    },
  }
  return {
    quota: createQuota(unreliable, NO_WINDOWS),
    become: (next: Fate) => {
      fate = next
    },
    release: () => {
      for (const resolve of held) resolve()
    },
    heldReplies: () => held.length,
  }
}

/** Creates a project with this monthly quota, and one key. */
async function createAccount(database: Database, perMonth: number) {
  const name = `p-${crypto.randomUUID()}`
  await database.call(`insert into plans values ('${name}', 1000, 1000, ${perMonth})`, [])
  await callFunction(database, 'create_project', { project: name, plan: name })
  const keyHash = Bun.SHA256.hash(
    await callFunction(database, 'issue_key', { project: name, key_type: 'project', key_name: 'k' }),
    'hex',
  )
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

/** The time that a call waits for a locked counter. */
const LOCKED_MS = 40
const UNAVAILABLE = { code: 'service_unavailable' }

describeBackends('quota', backend => {
  test('reserves all of several requests, or none', async () => {
    const { database } = await backend.open()
    const { keyHash, counted } = await createAccount(database, 11)
    const { quota } = openQuota(database)
    // The first reservation of a month creates the counter.
    expect(await quota.reserve(keyHash)).toMatchObject({ reserved: true })
    const reservations = [8, 3, 1, 1, 1].map(requests => quota.reserve(keyHash, requests))
    const replies = await Promise.all(reservations)
    // The requests share one batch: what is too little for three is left for those that need one.
    expect(replies.map(({ reserved }) => reserved)).toEqual([true, false, true, true, false])
    await quota.settled()
    expect(await counted()).toBe(11)
    for (const [i, { resolvedKey, reserved }] of replies.entries()) {
      if (reserved) quota.refund(resolvedKey, [8, 3, 1, 1, 1][i])
    }
    await quota.settled()
    expect(await counted()).toBe(1)
  })

  test('a failed reservation of several requests does not stay counted', async () => {
    const { database } = await backend.open()
    const { keyHash, counted } = await createAccount(database, 10)
    const { quota } = openQuota(database)
    expect(await quota.reserve(keyHash, 9_000)).toMatchObject({ reserved: false, resolvedKey: { verdict: 'active' } })
    await quota.settled()
    expect(await counted()).toBe(0)
  })

  test('a key that is not active reserves nothing, alone or among others', async () => {
    const { database } = await backend.open()
    const [good, bad] = [await createAccount(database, 10), await createAccount(database, 10)]
    const { quota } = openQuota(database)
    await bad.deactivate()
    const verdicts = async (...asked: ReturnType<typeof quota.reserve>[]) =>
      (await Promise.all(asked)).map(({ reserved, resolvedKey }) => `${resolvedKey.verdict} ${reserved}`)
    expect(await verdicts(quota.reserve(bad.keyHash, 2))).toEqual(['disabled false'])
    expect(await verdicts(quota.reserve('ab'.repeat(32)))).toEqual(['unknown false'])
    expect(await verdicts(quota.reserve(good.keyHash), quota.reserve(bad.keyHash))).toEqual([
      'active true',
      'disabled false',
    ])
    expect([await good.counted(), await bad.counted()]).toEqual([1, 0])
  })

  test.each(['late', 'lost'] as const)('a reply that is %s is a 503, and what it granted is refunded', async fate => {
    const { database } = await backend.open()
    const { keyHash, counted } = await createAccount(database, 10_000)
    // The time limit of a server, on either backend.
    const { quota, become, release, heldReplies } = openQuota(database, 'real')
    become(fate)
    const [one, many] = await Promise.allSettled([quota.reserve(keyHash), quota.reserve(keyHash, 9_000)])
    expect([one, many].map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(one.status === 'rejected' && Promise.reject(one.reason)).rejects.toMatchObject(UNAVAILABLE)
    expect(await counted()).toBe(9_001)
    become('answered')
    release()
    if (fate === 'late') expect(heldReplies()).toBeGreaterThan(0)
    await quota.settled()
    await waitUntil('both reservations are refunded', async () => (await counted()) === 0)
    // Each is refunded once: the next reservation finds the full month.
    expect(await openQuota(database).quota.reserve(keyHash, 10_000)).toMatchObject({ reserved: true })
    expect(await counted()).toBe(10_000)
  })

  test('a refund whose reply was lost is sent again, and applied once', async () => {
    const { database } = await backend.open()
    const { keyHash, counted } = await createAccount(database, 100)
    const { quota, become } = openQuota(database)
    const { resolvedKey, reserved } = await quota.reserve(keyHash, 50)
    if (!reserved) throw new Error('The quota has space for 50 requests')
    become('lost')
    quota.refund(resolvedKey, 20)
    await waitUntil('the refund is counted', async () => (await counted()) === 30)
    become('answered')
    await quota.settled()
    expect(await counted()).toBe(30)
  })

  test('near the end of a month nobody is admitted before the count is on disk, and lost counts are refunded', async () => {
    const { database } = await backend.open()
    const { keyHash, counted } = await createAccount(database, 10)
    const { quota, become, release, heldReplies } = openQuota(database, database.backend, /pg_logical_emit_message/)
    become('late')
    let isAnswered = false
    const waiting = quota.reserve(keyHash, 4).finally(() => {
      isAnswered = true
    })
    await waitUntil('the write to disk is requested', () => heldReplies() === 1)
    expect([isAnswered, await counted()]).toEqual([false, 4])
    release()
    expect(await waiting).toMatchObject({ reserved: true })
    become('lost')
    await expect(quota.reserve(keyHash, 5)).rejects.toMatchObject({ status: 503 })
    expect(await counted()).toBe(9)
    become('answered')
    await quota.settled()
    expect(await counted()).toBe(4)
    become('lost')
    // A rejected request does not need a confirmed reply.
    expect(await quota.reserve(keyHash, 0)).toMatchObject({ reserved: false })
    become('answered')
    expect(await quota.reserve(keyHash, 6)).toMatchObject({ reserved: true })
  })

  test('near the end of a month a count that a crash undid admits nobody', async () => {
    const { database } = await backend.open()
    const { keyHash, counted } = await createAccount(database, 10)
    let crashes = 1
    const crashing: Database = {
      ...database,
      async call(text, values) {
        // Simulates a server that restarts without its last transactions.
        if (text.includes('pg_logical_emit_message') && crashes-- > 0) {
          await database.runScript('delete from admission_slots; delete from monthly_counters')
        }
        return database.call(text, values)
      },
    }
    const quota = createQuota(crashing, NO_WINDOWS)
    await expect(quota.reserve(keyHash, 4)).rejects.toMatchObject({ status: 503 })
    await quota.settled()
    expect(await counted()).toBe(0)
    expect(await quota.reserve(keyHash, 10)).toMatchObject({ reserved: true })
  })

  test('a slot that is free again accepts the next batch as a new one', async () => {
    const { database } = await backend.open()
    const { keyHash, counted } = await createAccount(database, 100)
    const { quota } = openQuota(database)
    for (const requests of [5, 7, 9]) expect(await quota.reserve(keyHash, requests)).toMatchObject({ reserved: true })
    expect(await counted()).toBe(21)
  })

  test.each([
    ['that moves is waited for, as long as for a database that is late', 1, { reserved: true }],
    ['that stands is held by somebody, and not waited for', 0, { status: 503, code: 'service_unavailable' }],
  ])('a locked counter %s', async (_, step, expected) => {
    const { database } = await backend.open()
    const { keyHash } = await createAccount(database, 10)
    // A transaction that locks the counter for longer than the time limit, on any machine.
    let attemptsLeft = step === 0 ? 1_500 / LOCKED_MS : Number.POSITIVE_INFINITY
    const freeAtMs = step === 0 ? Number.POSITIVE_INFINITY : performance.now() + 1_500
    let requests = 0
    const locking: Database = {
      ...database,
      backend: 'real',
      async call<Row>(text: string, values: readonly unknown[]) {
        const isLocked = attemptsLeft > 0 && performance.now() < freeAtMs
        if (text.includes('find_locked_counters(')) {
          requests += step
          return (isLocked ? [{ ordinal: 1, requests }] : []) as Row[]
        }
        if (text.includes('admit(') && isLocked) {
          attemptsLeft--
          await Bun.sleep(LOCKED_MS)
          throw Object.assign(new Error('locked'), { code: '55P03' })
        }
        return database.call<Row>(text, values)
      },
    }
    const outcome = await createQuota(locking, NO_WINDOWS)
      .reserve(keyHash)
      .catch(error => error)
    expect(outcome).toMatchObject(expected)
  })

  test('a locked counter affects only its own keys, which wait for it', async () => {
    const { database } = await backend.open()
    const [free, held] = [await createAccount(database, 10), await createAccount(database, 10)]
    let isLocked = true
    const lockout = Object.assign(new Error('locked'), { code: '55P03' })
    const hashesIn = (values: readonly unknown[]) => (values[0] ?? []) as string[]
    const locking: Database = {
      ...database,
      async call<Row>(text: string, values: readonly unknown[]) {
        const at = isLocked ? hashesIn(values).indexOf(held.keyHash) : -1
        if (text.includes('find_locked_counters(')) return (at < 0 ? [] : [{ ordinal: at + 1 }]) as Row[]
        if (text.includes('admit(') && at >= 0) throw lockout
        return database.call<Row>(text, values)
      },
    }
    const quota = createQuota(locking, NO_WINDOWS)
    const [waiting, served] = [quota.reserve(held.keyHash), quota.reserve(free.keyHash)]
    expect(await served).toMatchObject({ reserved: true })
    isLocked = false
    expect(await waiting).toMatchObject({ reserved: true })
    expect([await free.counted(), await held.counted()]).toEqual([1, 1])
  })

  test('while a deployment locks the tables, a request waits; without one it fails', async () => {
    const { database } = await backend.open()
    const { keyHash, counted } = await createAccount(database, 10)
    let failures = 2
    let isDeploying = true
    const deploying: Database = {
      ...database,
      async call<Row>(text: string, values: readonly unknown[]) {
        if (text.includes('is_deploying(')) return [{ result: isDeploying }] as Row[]
        if (text.includes('admit(') && failures-- > 0) throw new Error('the tables are locked')
        return database.call<Row>(text, values)
      },
    }
    expect(await createQuota(deploying, NO_WINDOWS).reserve(keyHash)).toMatchObject({ reserved: true })
    failures = 1
    isDeploying = false
    await expect(createQuota(deploying, NO_WINDOWS).reserve(keyHash)).rejects.toMatchObject(UNAVAILABLE)
    expect(await counted()).toBe(1)
  })

  test('a database that rejects counts nothing, and is called again under the same slot', async () => {
    const { database } = await backend.open()
    const { keyHash, counted } = await createAccount(database, 10)
    let isRefusing = true
    const refusing: Database = {
      ...database,
      call: (text, values) =>
        isRefusing && text.includes('admit(')
          ? Promise.reject(Object.assign(new Error('refused'), { code: '57P03' }))
          : database.call(text, values),
    }
    const quota = createQuota(refusing, NO_WINDOWS)
    await expect(quota.reserve(keyHash)).rejects.toMatchObject(UNAVAILABLE)
    isRefusing = false
    expect(await quota.reserve(keyHash)).toMatchObject({ reserved: true })
    await quota.settled()
    expect(await counted()).toBe(1)
  })
})
