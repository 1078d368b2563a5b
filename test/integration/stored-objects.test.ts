/** Objects that providers and the proxy store for a project or a key are found, settled and deleted by that one alone. */

import { beforeEach, expect, test } from 'vitest'
import { callFunction, callFunctionForRow } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { findStorageKeyName } from '../../src/postgres/stored-objects.ts'
import { describeOnce } from '../harness/backends.ts'

type Holder = { of_project: number; of_key: number }

describeOnce('stored objects in the database', backend => {
  let database: Database
  let ours: number
  let theirs: number
  beforeEach(async () => {
    database = (await backend.open()).database
    for (const name of ['ours', 'theirs'])
      await callFunction(database, 'create_project', { project: name, plan: 'free' })
    ;[ours, theirs] = [
      await callFunction(database, 'find_project', { project: 'ours' }),
      await callFunction(database, 'find_project', { project: 'theirs' }),
    ]
  })

  const keep = (
    projectId: number,
    id: string,
    { provider = 'openai', ...asked }: { provider?: string; tags?: object; asked_for?: string } = {},
  ) =>
    callFunction(database, 'upsert_stored_object', {
      of_project: projectId,
      object_id: id,
      of_collection: 'batches',
      of_provider: provider,
      object: `{"of":${projectId}}`,
      ...asked,
    })

  test('an object is found by its project, in its collection', async () => {
    await keep(ours, 'batch_1')
    expect(
      await callFunctionForRow(database, 'find_stored_object', {
        of_project: ours,
        of_collection: 'batches',
        object_id: 'batch_1',
      }),
    ).toMatchObject({ object: `{"of":${ours}}` })
    expect(
      await callFunctionForRow(database, 'find_stored_object', {
        of_project: ours,
        of_collection: 'files',
        object_id: 'batch_1',
      }),
    ).toBeNull()
    expect(
      await callFunctionForRow(database, 'find_stored_object', {
        of_project: theirs,
        of_collection: 'batches',
        object_id: 'batch_1',
      }),
    ).toBeNull()
    const page = {
      of_collection: 'batches',
      stored_by: null,
      for_purpose: null,
      only_ids: null,
      after_id: null,
      newest_first: true,
      page_size: 10,
    }
    const seen = (projectId: number) =>
      callFunction(database, 'list_stored_objects', { ...page, of_project: projectId })
    expect([(await seen(ours)).length, await seen(theirs)]).toEqual([1, []])
    await callFunction(database, 'delete_stored_object', {
      of_project: theirs,
      of_collection: 'batches',
      object_id: 'batch_1',
    })
    expect(await seen(ours)).toHaveLength(1)
    await callFunction(database, 'delete_stored_object', {
      of_project: ours,
      of_collection: 'batches',
      object_id: 'batch_1',
    })
    expect(await seen(ours)).toEqual([])
  })

  test('a batch is settled once, by its project, with the tags that it was started with', async () => {
    await keep(ours, 'batch_1', { tags: { team: 'a' }, asked_for: 'alice' })
    await keep(theirs, 'batch_1')
    await keep(ours, 'batch_2')
    expect(
      await callFunctionForRow(database, 'claim_batch_settlement', { of_project: theirs, batch_id: 'batch_1' }),
    ).toEqual({
      tags: null,
      end_user: null,
    })
    const settled = await Promise.all(
      Array.from({ length: 5 }, () =>
        callFunctionForRow(database, 'claim_batch_settlement', { of_project: ours, batch_id: 'batch_1' }),
      ),
    )
    expect(settled.filter(each => each !== null)).toEqual([{ tags: '{"team": "a"}', end_user: 'alice' }])
    expect(
      await callFunctionForRow(database, 'claim_batch_settlement', { of_project: ours, batch_id: 'batch_2' }),
    ).toEqual({
      tags: null,
      end_user: null,
    })
  })

  test('an id belongs to one project per provider; an unknown id to the first that names it with its own key', async () => {
    const foreignTo = async (projectId: number, ids: string[], { provider = 'openai', isShared = false } = {}) => {
      const fields = { of_project: projectId, of_provider: provider, under_shared_key: isShared, ids }
      return (await callFunction(database, 'claim_referenced_ids', fields)).map(({ id }) => id)
    }
    await keep(theirs, 'file_1')
    expect(await foreignTo(ours, ['file_1'])).toEqual(['file_1'])
    expect(await foreignTo(theirs, ['file_1'])).toEqual([])
    // The id belongs to an object of another provider.
    expect(await foreignTo(ours, ['file_1'], { provider: 'groq' })).toEqual([])
    expect(await foreignTo(ours, ['file_2', 'file_1'])).toEqual(['file_1'])
    expect(await foreignTo(theirs, ['file_2'])).toEqual(['file_2'])
    // With a provider key that all projects share, only ids that are known to be the project's own are its own.
    expect(await foreignTo(ours, ['file_3', 'file_2'], { isShared: true })).toEqual(['file_3'])
    expect(await foreignTo(theirs, ['file_3'])).toEqual([])
  })

  test('requests use the key with which most of the named objects were created', async () => {
    await callFunction(database, 'claim_created_ids', {
      of_project: ours,
      of_provider: 'openai/eu',
      ids: ['file_1', 'file_2'],
    })
    await callFunction(database, 'claim_created_ids', { of_project: ours, of_provider: 'openai', ids: ['file_3'] })
    await callFunction(database, 'claim_created_ids', { of_project: ours, of_provider: 'groq/other', ids: ['file_4'] })
    const keyOf = (projectId: number, ids: string[]) =>
      findStorageKeyName(database, { projectId, provider: 'openai', ids })
    expect(await keyOf(ours, ['file_1', 'file_2', 'file_3'])).toBe('eu')
    expect(await keyOf(ours, ['file_3'])).toBe('default')
    expect([await keyOf(ours, ['file_4']), await keyOf(theirs, ['file_1'])]).toEqual([null, null])
  })

  test('a response belongs to its key for a week, and so does each turn before it', async () => {
    const addKey = async (project: string, name: string) => {
      const secret = await callFunction(database, 'issue_key', { project, key_type: 'project', key_name: name })
      return {
        of_project: await callFunction(database, 'find_project', { project }),
        of_key: await callFunction(database, 'find_key', { key_or_prefix: secret }),
      }
    }
    const key = await addKey('ours', 'one')
    const another = await addKey('ours', 'another')
    const elsewhere = { ...key, of_project: theirs }
    const keepTurn = (of: Holder, id: string, previous: string | null = null) =>
      callFunction(database, 'store_response', {
        ...of,
        response_id: id,
        continued_id: previous,
        own_input: '[]',
        response: '{}',
      })
    await keepTurn(key, 'resp_1')
    await keepTurn(key, 'resp_2', 'resp_1')
    const turns = async (of: Holder) =>
      (await callFunction(database, 'find_conversation', { ...of, response_id: 'resp_2' })).map(({ id }) => id)
    const forget = (of: Holder) => callFunction(database, 'delete_stored_response', { ...of, response_id: 'resp_1' })
    expect(await turns(key)).toEqual(['resp_1', 'resp_2'])
    for (const of of [another, elsewhere]) {
      expect(await turns(of)).toEqual([])
      expect(await callFunction(database, 'find_stored_responses', { ...of, response_ids: ['resp_1'] })).toEqual([])
      expect(await forget(of)).toBe(false)
    }
    // The previous response of the same id belongs to another key.
    await keepTurn(another, 'resp_2', 'resp_1')
    expect(await turns(another)).toEqual(['resp_2'])
    await database.call(`update stored_responses set expires_at = now() - interval '1 hour' where id = 'resp_1'`, [])
    expect(await turns(key)).toEqual(['resp_2'])
    await callFunction(database, 'delete_expired_stored_responses', { max_rows: 10 })
    expect(await database.call('select from stored_responses', [])).toHaveLength(2)
    // A provider's own ids are looked up by key too, and an unfinished response is completed once, by its key.
    const unfinished = { response_id: 'gen-1', continued_id: null, own_input: '[]', response: '{}', unfinished: true }
    await callFunction(database, 'store_response', { ...key, ...unfinished })
    for (const of of [another, elsewhere, key]) {
      const whole = {
        response_id: 'gen-1',
        response: `{"of":[${of.of_project},${of.of_key}]}`,
        item_ids: ['rs_1', 'msg_1'],
      }
      await callFunction(database, 'complete_stored_response', { ...of, ...whole })
      const found = await callFunction(database, 'find_responses_by_item', { ...of, names: ['msg_1', 'msg_2'] })
      expect(found.map(({ id }) => id)).toEqual(of === key ? ['gen-1'] : [])
    }
    await callFunction(database, 'complete_stored_response', {
      ...key,
      response_id: 'gen-1',
      response: 'no',
      item_ids: [],
    })
    for (const of of [another, elsewhere])
      expect(await callFunction(database, 'find_responses_by_item', { ...of, names: ['rs_1'] })).toEqual([])
    const finished = await callFunction(database, 'find_responses_by_item', { ...key, names: ['rs_1'] })
    expect(finished).toMatchObject([
      { id: 'gen-1', response: `{"of":[${key.of_project},${key.of_key}]}`, unfinished: false },
    ])
    await database.call(`update stored_responses set expires_at = now() - interval '1 hour' where id = 'gen-1'`, [])
    expect(await callFunction(database, 'find_responses_by_item', { ...key, names: ['rs_1'] })).toEqual([])
    await callFunction(database, 'delete_expired_stored_responses', { max_rows: 10 })
    // Storing an expired response again makes it available again.
    await keepTurn(key, 'resp_1')
    await database.call(`update stored_responses set expires_at = now() + interval '1 day'`, [])
    await keepTurn(key, 'resp_1')
    const lasts = `select id from stored_responses where expires_at > now() + interval '6 days'`
    expect(await database.call(lasts, [])).toEqual([{ id: 'resp_1' }])
    expect(await forget(key)).toBe(true)
    expect(await turns(key)).toEqual(['resp_2'])
  })
})
