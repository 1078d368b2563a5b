/** A database on a full disk: a trigger raises PostgreSQL's error for a file that cannot grow. */
import { expect, test } from 'vitest'
import { describeBackends } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask, get } from '../harness/client.ts'
import { startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

describeBackends('a database whose disk is full', backend => {
  test('is reported by health, with its cause, until there is space again; requests are served', async ({
    onTestFinished,
  }) => {
    const proxy = await startProxy({ stores: await backend.open() })
    onTestFinished(() => proxy.stop())
    const { database } = proxy.stores
    const changes: boolean[] = []
    database.disk.onChange = isFull => changes.push(isFull)
    const key = await proxy.createKey({ type: 'test' })
    const health = async () => {
      const answer = await get(proxy, '/health')
      const { status, dependencies } = (await answer.json()) as {
        status: string
        dependencies: { postgres: { status: string; problem?: string } }
      }
      return [answer.status, status, dependencies.postgres.status, dependencies.postgres.problem]
    }
    await database.runScript(`
      create function refuse() returns trigger language plpgsql as $$ begin
        raise exception 'could not extend file "base/5/16384": No space left on device' using errcode = 'disk_full';
      end $$;
      create trigger is_full before insert on cache_entries for each row execute function refuse()`)
    for (let i = 0; i < 3; i++) expect((await ask(proxy, key, question(`Full ${i}?`))).status).toBe(200)
    await waitUntil('health is degraded', async () => (await health())[1] === 'degraded')
    expect(await health()).toEqual([200, 'degraded', 'up', 'disk full'])
    await database.runScript('drop trigger is_full on cache_entries; drop function refuse()')
    // Nothing has been stored since then.
    expect((await health())[1]).toBe('degraded')
    await ask(proxy, key, question('Room?'))
    await waitUntil('health is ok', async () => (await health())[1] === 'ok')
    expect(changes).toEqual([true, false])
  })
})
