import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Database } from '../../src/postgres/database.ts'
import { type AnswerAsk, findAnswer, findAnswers } from '../../src/postgres/find-answer.ts'
import { createProject } from '../../src/postgres/projects.ts'
import { storeAnswer } from '../../src/postgres/store-answers.ts'
import { registerEmbeddingSpace } from '../../src/postgres/vectors.ts'
import { describeBackends } from '../harness/backends.ts'

const sha256 = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')

const QUESTIONS = { near: '[9,10,0]', far: '[0,1,10]' }

async function fill(database: Database): Promise<(context: string, vector: string) => AnswerAsk> {
  await createProject(database, 'acme', 'free')
  const { id: projectId } = await database.queries.selectFrom('projects').select('id').executeTakeFirstOrThrow()
  const spaceId = await registerEmbeddingSpace(database, { model: 'three', dimensions: 3 })
  for (const [prompt, text] of Object.entries(QUESTIONS)) {
    await storeAnswer(database, {
      projectId: Number(projectId),
      requestHash: sha256(prompt),
      namespace: '',
      endpoint: 'chat',
      model: 'm',
      provider: 'p',
      response: `{"to":"${prompt}"}`,
      promptTokens: 1,
      completionTokens: 1,
      ttlSeconds: 60,
      semantic: { contextHash: sha256('context'), normalizedHash: sha256(prompt), prompt, vector: { spaceId, text } },
    })
  }
  return (context, text) => ({
    projectId: Number(projectId),
    requestHash: sha256('never asked'),
    semantic: {
      contextHash: sha256(context),
      normalizedHash: sha256('never asked'),
      vector: { spaceId, text },
      threshold: 0.9,
    },
    maxAgeSeconds: null,
  })
}

describeBackends('find_answers()', backend => {
  test('finds the similar prompt and no other', async () => {
    const { database } = await backend.open()
    const ask = await fill(database)
    expect(await findAnswer(database, ask('context', '[10,9,0]'))).toEqual([
      expect.objectContaining({ match: 'similar', prompt: 'near', response: null }),
    ])
    expect(await findAnswer(database, ask('context', '[10,-9,0]'))).toEqual([])
    expect(await findAnswer(database, ask('another context', '[10,9,0]'))).toEqual([])
  })

  test('names the entry, however it was found', async () => {
    const { database } = await backend.open()
    const ask = await fill(database)
    const similar = ask('context', '[10,9,0]')
    const { rows } = await sql<{ id: string }>`
      select id from cache_entries where response = '{"to":"near"}'`.execute(database.queries)
    const id = Number(rows[0]?.id)
    const normalized = similar.semantic && { ...similar.semantic, normalizedHash: sha256('near'), vector: null }
    const found = [
      ...(await findAnswer(database, similar)),
      ...(await findAnswer(database, { ...similar, semantic: normalized })),
      ...(await findAnswer(database, { ...similar, requestHash: sha256('near') })),
    ]
    expect(found.map(row => [row.match, Number(row.entry_id)])).toEqual([
      ['similar', id],
      ['normalized', id],
      ['exact', id],
    ])
  })

  test('looks for what one asks, whatever is found for the one beside it', async () => {
    const { database } = await backend.open()
    const ask = await fill(database)
    const similar = ask('context', '[10,9,0]')
    const exact = { ...similar, requestHash: sha256('near'), semantic: null }
    const [alone, beside] = await findAnswers(database, [exact, similar])
    expect(alone?.answers).toMatchObject([{ match: 'exact' }])
    expect(beside?.answers).toMatchObject([{ match: 'similar', prompt: 'near' }])
  })
})
