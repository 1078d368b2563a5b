/** What providers and the proxy keep for a project or a key is found, settled and deleted by that one alone. */
import { beforeEach, expect, test } from 'vitest'
import type { Database } from '../../src/postgres/database.ts'
import {
  bindIds,
  claimIds,
  findKeptObject,
  findKeyOf,
  forgetKeptObject,
  keepObject,
  pageOfKeptObjects,
  settleBatch,
  tagBatch,
} from '../../src/postgres/kept-objects.ts'
import {
  deleteExpiredResponses,
  findConversation,
  findKeptResponses,
  forgetKeptResponse,
  type KeptFor,
  keepResponse,
} from '../../src/postgres/kept-responses.ts'
import { createProject, findProjectId, issueKey } from '../../src/postgres/projects.ts'
import { describeOnce } from '../harness/backends.ts'

describeOnce('what is kept', backend => {
  let database: Database
  let ours: number
  let theirs: number
  beforeEach(async () => {
    database = (await backend.open()).database
    for (const name of ['ours', 'theirs']) await createProject(database, name, 'free')
    ;[ours, theirs] = [await findProjectId(database, 'ours'), await findProjectId(database, 'theirs')]
  })

  const keep = (projectId: number, id: string, provider = 'openai') =>
    keepObject(database, { projectId, id, collection: 'batches', provider, object: `{"of":${projectId}}` })

  test('an object is found by its project, as what it is', async () => {
    await keep(ours, 'batch_1')
    expect(await findKeptObject(database, ours, 'batches', 'batch_1')).toMatchObject({ object: `{"of":${ours}}` })
    expect(await findKeptObject(database, ours, 'files', 'batch_1')).toBeNull()
    expect(await findKeptObject(database, theirs, 'batches', 'batch_1')).toBeNull()
    const page = {
      collection: 'batches',
      keptBy: null,
      ids: null,
      purpose: null,
      after: null,
      newestFirst: true,
      size: 10,
    } as const
    const seen = (projectId: number) => pageOfKeptObjects(database, { ...page, projectId })
    expect([(await seen(ours)).length, await seen(theirs)]).toEqual([1, []])
    await forgetKeptObject(database, theirs, 'batches', 'batch_1')
    expect(await seen(ours)).toHaveLength(1)
    await forgetKeptObject(database, ours, 'batches', 'batch_1')
    expect(await seen(ours)).toEqual([])
  })

  test('a batch is settled once, by its project, with the tags that it was started with', async () => {
    for (const of of [ours, theirs]) await keep(of, 'batch_1')
    await keep(ours, 'batch_2')
    await tagBatch(database, { projectId: ours, id: 'batch_1', tags: '{"team":"a"}' })
    expect(await settleBatch(database, theirs, 'batch_1')).toEqual({ tags: null })
    const settled = await Promise.all(Array.from({ length: 5 }, () => settleBatch(database, ours, 'batch_1')))
    expect(settled.filter(each => each !== null)).toEqual([{ tags: '{"team": "a"}' }])
    expect(await settleBatch(database, ours, 'batch_2')).toEqual({ tags: null })
  })

  test('an id is whose it is at each provider; unknown, it is the first’s that names it with a key of its own', async () => {
    const foreignTo = (projectId: number, ids: string[], { provider = 'openai', isShared = false } = {}) =>
      claimIds(database, { projectId, provider, isShared, ids })
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
    await bindIds(database, ours, 'openai/eu', ['file_1', 'file_2'])
    await bindIds(database, ours, 'openai', ['file_3'])
    await bindIds(database, ours, 'groq/other', ['file_4'])
    const keyOf = (projectId: number, ids: string[]) => findKeyOf(database, { projectId, provider: 'openai', ids })
    expect(await keyOf(ours, ['file_1', 'file_2', 'file_3'])).toBe('eu')
    expect(await keyOf(ours, ['file_3'])).toBe('default')
    expect([await keyOf(ours, ['file_4']), await keyOf(theirs, ['file_1'])]).toEqual([null, null])
  })

  test('a response is its key’s for a week, and so is each turn before it', async () => {
    const addKey = async (project: string, name: string) => {
      const secret = await issueKey(database, project, 'project', name)
      const [found] = await database.call<KeptFor>(
        `select project_id::integer, id::integer as key_id from api_keys where id = find_key('${secret}')`,
        [],
      )
      return found ?? { project_id: 0, key_id: 0 }
    }
    const key = await addKey('ours', 'one')
    const another = await addKey('ours', 'another')
    const elsewhere = { ...key, project_id: theirs }
    const turn = (id: string, previousId: string | null = null) => ({ id, previousId, input: '[]', response: '{}' })
    await keepResponse(database, key, turn('resp_1'))
    await keepResponse(database, key, turn('resp_2', 'resp_1'))
    const turns = async (of: KeptFor) => (await findConversation(database, of, 'resp_2')).map(({ id }) => id)
    expect(await turns(key)).toEqual(['resp_1', 'resp_2'])
    for (const of of [another, elsewhere]) {
      expect([await turns(of), await findKeptResponses(database, of, ['resp_1'])]).toEqual([[], []])
      expect(await forgetKeptResponse(database, of, 'resp_1')).toBe(false)
    }
    // Of the same id, the turn before is another's.
    await keepResponse(database, another, turn('resp_2', 'resp_1'))
    expect(await turns(another)).toEqual(['resp_2'])
    await database.call(`update kept_responses set expires_at = now() - interval '1 hour' where id = 'resp_1'`, [])
    expect(await turns(key)).toEqual(['resp_2'])
    await deleteExpiredResponses(database, 10)
    expect(await database.call('select from kept_responses', [])).toHaveLength(2)
    // Kept again, it is there again.
    await keepResponse(database, key, turn('resp_1'))
    await database.call(`update kept_responses set expires_at = now() + interval '1 day'`, [])
    await keepResponse(database, key, turn('resp_1'))
    const lasts = `select id from kept_responses where expires_at > now() + interval '6 days'`
    expect(await database.call(lasts, [])).toEqual([{ id: 'resp_1' }])
    expect(await forgetKeptResponse(database, key, 'resp_1')).toBe(true)
    expect(await turns(key)).toEqual(['resp_2'])
  })
})
