import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Database } from '../../src/postgres/database.ts'
import { registerEmbeddingSpace } from '../../src/postgres/embedding-spaces.ts'
import { type AnswerAsk, findAnswer } from '../../src/postgres/find-answer.ts'
import { createProject } from '../../src/postgres/projects.ts'
import { storeAnswer } from '../../src/postgres/store-answer.ts'
import { describeFootings } from '../harness/footings.ts'

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

describeFootings('find_answer()', footing => {
  for (const where of ['compared one by one', 'in the graph'] as const) {
    test(`finds the similar prompt and no other, ${where}`, async () => {
      const { database } = await footing.open()
      const ask = await fill(database)
      if (where === 'in the graph') await database.runScript('update cache_prompts set in_graph = true')
      expect(await findAnswer(database, ask('context', '[10,9,0]'))).toEqual([
        expect.objectContaining({ match: 'similar', prompt: 'near', response: '{"to":"near"}' }),
      ])
      expect(await findAnswer(database, ask('context', '[10,-9,0]'))).toEqual([])
      expect(await findAnswer(database, ask('another context', '[10,9,0]'))).toEqual([])
    })
  }

  test("the graph's options end with the lookup", async () => {
    const { database } = await footing.open()
    const ask = await fill(database)
    await database.runScript('update cache_prompts set in_graph = true')
    await findAnswer(database, ask('context', '[10,9,0]'))
    const { rows } = await sql<{ found: string }>`select current_setting('hnsw.ef_search') as found`.execute(
      database.queries,
    )
    expect(rows[0]?.found).toBe('40')
  })
})
