/** What providers and the proxy keep for a project or a key is found, settled and deleted by that one alone. */

import { beforeEach, expect, test } from 'vitest'
import { call, callForRow } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { findKeyOf } from '../../src/postgres/kept-objects.ts'
import { describeOnce } from '../harness/backends.ts'

type Holder = { of_project: number; of_key: number }

describeOnce('what is kept', backend => {
  let database: Database
  let ours: number
  let theirs: number
  beforeEach(async () => {
    database = (await backend.open()).database
    for (const name of ['ours', 'theirs']) await call(database, 'create_project', { project: name, plan: 'free' })
    ;[ours, theirs] = [
      await call(database, 'find_project', { project: 'ours' }),
      await call(database, 'find_project', { project: 'theirs' }),
    ]
  })

  const keep = (
    projectId: number,
    id: string,
    { provider = 'openai', ...asked }: { provider?: string; tags?: object; asked_for?: string } = {},
  ) =>
    call(database, 'keep_object', {
      of_project: projectId,
      object_id: id,
      of_collection: 'batches',
      of_provider: provider,
      object: `{"of":${projectId}}`,
      ...asked,
    })

  test('an object is found by its project, as what it is', async () => {
    await keep(ours, 'batch_1')
    expect(
      await callForRow(database, 'find_kept_object', {
        of_project: ours,
        of_collection: 'batches',
        object_id: 'batch_1',
      }),
    ).toMatchObject({ object: `{"of":${ours}}` })
    expect(
      await callForRow(database, 'find_kept_object', {
        of_project: ours,
        of_collection: 'files',
        object_id: 'batch_1',
      }),
    ).toBeNull()
    expect(
      await callForRow(database, 'find_kept_object', {
        of_project: theirs,
        of_collection: 'batches',
        object_id: 'batch_1',
      }),
    ).toBeNull()
    const page = {
      of_collection: 'batches',
      kept_by: null,
      for_purpose: null,
      only_ids: null,
      after_id: null,
      newest_first: true,
      page_size: 10,
    }
    const seen = (projectId: number) => call(database, 'page_of_kept_objects', { ...page, of_project: projectId })
    expect([(await seen(ours)).length, await seen(theirs)]).toEqual([1, []])
    await call(database, 'forget_kept_object', { of_project: theirs, of_collection: 'batches', object_id: 'batch_1' })
    expect(await seen(ours)).toHaveLength(1)
    await call(database, 'forget_kept_object', { of_project: ours, of_collection: 'batches', object_id: 'batch_1' })
    expect(await seen(ours)).toEqual([])
  })

  test('a batch is settled once, by its project, with the tags that it was started with', async () => {
    await keep(ours, 'batch_1', { tags: { team: 'a' }, asked_for: 'alice' })
    await keep(theirs, 'batch_1')
    await keep(ours, 'batch_2')
    expect(await callForRow(database, 'settle_batch', { of_project: theirs, batch_id: 'batch_1' })).toEqual({
      tags: null,
      end_user: null,
    })
    const settled = await Promise.all(
      Array.from({ length: 5 }, () => callForRow(database, 'settle_batch', { of_project: ours, batch_id: 'batch_1' })),
    )
    expect(settled.filter(each => each !== null)).toEqual([{ tags: '{"team": "a"}', end_user: 'alice' }])
    expect(await callForRow(database, 'settle_batch', { of_project: ours, batch_id: 'batch_2' })).toEqual({
      tags: null,
      end_user: null,
    })
  })

  test('an id is whose it is at each provider; unknown, it is the first’s that names it with a key of its own', async () => {
    const foreignTo = async (projectId: number, ids: string[], { provider = 'openai', isShared = false } = {}) => {
      const asked = { of_project: projectId, of_provider: provider, under_shared_key: isShared, ids }
      return (await call(database, 'claim_ids', asked)).map(({ id }) => id)
    }
    await keep(theirs, 'file_1')
    expect(await foreignTo(ours, ['file_1'])).toEqual(['file_1'])
    expect(await foreignTo(theirs, ['file_1'])).toEqual([])
    // Another provider's of the same name.
    expect(await foreignTo(ours, ['file_1'], { provider: 'groq' })).toEqual([])
    expect(await foreignTo(ours, ['file_2', 'file_1'])).toEqual(['file_1'])
    expect(await foreignTo(theirs, ['file_2'])).toEqual(['file_2'])
    // With everybody's key, only what is known to be one's own is.
    expect(await foreignTo(ours, ['file_3', 'file_2'], { isShared: true })).toEqual(['file_3'])
    expect(await foreignTo(theirs, ['file_3'])).toEqual([])
  })

  test('an object is asked for with the key that most of what is named was made with', async () => {
    await call(database, 'bind_ids', { of_project: ours, of_provider: 'openai/eu', ids: ['file_1', 'file_2'] })
    await call(database, 'bind_ids', { of_project: ours, of_provider: 'openai', ids: ['file_3'] })
    await call(database, 'bind_ids', { of_project: ours, of_provider: 'groq/other', ids: ['file_4'] })
    const keyOf = (projectId: number, ids: string[]) => findKeyOf(database, { projectId, provider: 'openai', ids })
    expect(await keyOf(ours, ['file_1', 'file_2', 'file_3'])).toBe('eu')
    expect(await keyOf(ours, ['file_3'])).toBe('default')
    expect([await keyOf(ours, ['file_4']), await keyOf(theirs, ['file_1'])]).toEqual([null, null])
  })

  test('a response is its key’s for a week, and so is each turn before it', async () => {
    const addKey = async (project: string, name: string) => {
      const secret = await call(database, 'issue_key', { project, key_type: 'project', key_name: name })
      return {
        of_project: await call(database, 'find_project', { project }),
        of_key: await call(database, 'find_key_id', { key: secret }),
      }
    }
    const key = await addKey('ours', 'one')
    const another = await addKey('ours', 'another')
    const elsewhere = { ...key, of_project: theirs }
    const keepTurn = (of: Holder, id: string, previous: string | null = null) =>
      call(database, 'keep_response', {
        ...of,
        response_id: id,
        continued_id: previous,
        own_input: '[]',
        response: '{}',
      })
    await keepTurn(key, 'resp_1')
    await keepTurn(key, 'resp_2', 'resp_1')
    const turns = async (of: Holder) =>
      (await call(database, 'find_conversation', { ...of, response_id: 'resp_2' })).map(({ id }) => id)
    const forget = (of: Holder) => call(database, 'forget_kept_response', { ...of, response_id: 'resp_1' })
    expect(await turns(key)).toEqual(['resp_1', 'resp_2'])
    for (const of of [another, elsewhere]) {
      expect(await turns(of)).toEqual([])
      expect(await call(database, 'find_kept_responses', { ...of, response_ids: ['resp_1'] })).toEqual([])
      expect(await forget(of)).toBe(false)
    }
    // Of the same id, the turn before is another's.
    await keepTurn(another, 'resp_2', 'resp_1')
    expect(await turns(another)).toEqual(['resp_2'])
    await database.call(`update kept_responses set expires_at = now() - interval '1 hour' where id = 'resp_1'`, [])
    expect(await turns(key)).toEqual(['resp_2'])
    await call(database, 'delete_expired_responses', { at_most: 10 })
    expect(await database.call('select from kept_responses', [])).toHaveLength(2)
    // A provider's own ids are looked for under the key, too; and what was unfinished is finished once, by its key.
    const unfinished = { response_id: 'gen-1', continued_id: null, own_input: '[]', response: '{}', unfinished: true }
    await call(database, 'keep_response', { ...key, ...unfinished })
    for (const of of [another, elsewhere, key]) {
      const whole = { response_id: 'gen-1', response: `{"of":${of.of_key}}`, item_ids: ['rs_1', 'msg_1'] }
      await call(database, 'finish_kept_response', { ...of, ...whole })
      const found = await call(database, 'find_item_responses', { ...of, names: ['msg_1', 'msg_2'] })
      expect(found.map(({ id }) => id)).toEqual(of === key ? ['gen-1'] : [])
    }
    await call(database, 'finish_kept_response', { ...key, response_id: 'gen-1', response: 'no', item_ids: [] })
    for (const of of [another, elsewhere])
      expect(await call(database, 'find_item_responses', { ...of, names: ['rs_1'] })).toEqual([])
    const finished = await call(database, 'find_item_responses', { ...key, names: ['rs_1'] })
    expect(finished).toMatchObject([{ id: 'gen-1', response: `{"of":${key.of_key}}`, unfinished: false }])
    await database.call(`update kept_responses set expires_at = now() - interval '1 hour' where id = 'gen-1'`, [])
    expect(await call(database, 'find_item_responses', { ...key, names: ['rs_1'] })).toEqual([])
    await call(database, 'delete_expired_responses', { at_most: 10 })
    // Kept again, it is there again.
    await keepTurn(key, 'resp_1')
    await database.call(`update kept_responses set expires_at = now() + interval '1 day'`, [])
    await keepTurn(key, 'resp_1')
    const lasts = `select id from kept_responses where expires_at > now() + interval '6 days'`
    expect(await database.call(lasts, [])).toEqual([{ id: 'resp_1' }])
    expect(await forget(key)).toBe(true)
    expect(await turns(key)).toEqual(['resp_2'])
  })
})
