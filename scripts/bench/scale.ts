/**
 * What the cache costs PostgreSQL as it grows: fills one group of comparable prompts step by step, among many other projects and
 * contexts, and measures the server's processor time a call, and whether the right prompt is found, at every size. What upkeep
 * would do within a minute is done before each.
 *
 * PostgreSQL must run on this machine: its processor time is read from /proc. Run: bun scripts/bench/scale.ts
 * Options: --sizes 500,2000,10000 --projects N (default 1000) --contexts N (of each, default 10) --asks N (default 300) --out FILE
 */

import { parseArgs } from 'node:util'
import { createBuiltinEmbedder } from '../../src/cache/embedders/builtin.ts'
import { call } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { findAnswer } from '../../src/postgres/find-answer.ts'
import { openRealDatabase } from '../../src/postgres/real.ts'
import { type AnswerToStore, storeAnswers } from '../../src/postgres/store-answers.ts'
import { rebuildCacheLists } from '../../src/postgres/upkeep.ts'
import { formatVector } from '../../src/postgres/vectors.ts'
import { listQuestions, reword } from './questions.ts'
import { prepareStores } from './stores.ts'

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '500,2000,10000' },
    projects: { type: 'string', default: '1000' },
    contexts: { type: 'string', default: '10' },
    asks: { type: 'string', default: '300' },
    out: { type: 'string', default: 'scale.json' },
  },
})
const THRESHOLD = 0.95
const BATCH = 50
const RESPONSE = JSON.stringify({
  choices: [{ message: { content: 'Open the settings, then "follow" the steps. '.repeat(20) } }],
})

const embedder = createBuiltinEmbedder()
const sha256 = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')
const vectorOf = (question: string) => formatVector(embedder.embed(question.toLowerCase()))

interface Group {
  projectId: number
  spaceId: number
}

function answerTo(question: string, { projectId, spaceId }: Group): AnswerToStore {
  return {
    projectId,
    requestHash: sha256(question),
    namespace: '',
    endpoint: 'chat',
    model: 'openai/gpt-4o-mini',
    provider: 'openrouter',
    response: RESPONSE,
    promptTokens: 20,
    completionTokens: 200,
    ttlSeconds: 86_400,
    semantic: {
      contextHash: sha256('context'),
      normalizedHash: sha256(question.toLowerCase()),
      prompt: question,
      vector: { spaceId, text: vectorOf(question) },
    },
  }
}

/** Fills other projects with small groups in contexts of the same names, copied in the server. */
async function fillBeside(database: Database, group: Group): Promise<void> {
  await storeAnswers(database, [answerTo('How do I begin?', group)])
  await database.runScript(`
    set local statement_timeout = 0;
    insert into projects (name, plan) select 'beside-' || i, 'bench' from generate_series(1, ${Number(options.projects)}) i;
    insert into cache_entries (project_id, request_hash, endpoint, model, provider, response, expires_at, bytes)
    select p.id, sha256(convert_to(p.id || ' ' || i, 'utf8')), 'chat', 'm', 'p', '{}', now() + interval '1 d', 300
    from projects p, generate_series(1, ${Number(options.contexts)}) i where p.name like 'beside-%';
    insert into cache_prompts (entry_id, project_id, context_hash, normalized_hash, prompt, space_id, embedding, created_at, expires_at)
    select e.id, e.project_id,
      case when e.id % 3 = 0 then f.context_hash else sha256(convert_to((e.id % ${Number(options.contexts)})::text, 'utf8')) end,
      e.request_hash, f.prompt, f.space_id, f.embedding, e.created_at, e.expires_at
    from cache_entries e join projects p on p.id = e.project_id, cache_prompts f where p.name like 'beside-%';
    analyze;
  `)
}

/** Processor time of the connection's server process during `work`, in milliseconds. The driver renews idle connections: asked each time. */
async function countProcessorMs(database: Database, work: () => Promise<unknown>): Promise<number> {
  const [row] = await database.call<{ pid: number }>('select pg_backend_pid() as pid', [])
  if (!row) throw new Error('pg_backend_pid() returned nothing')
  const read = async () => Number((await Bun.file(`/proc/${row.pid}/schedstat`).text()).split(' ')[0]) / 1e6
  const before = await read()
  await work()
  return (await read()) - before
}

async function measure(database: Database, group: Group, stored: readonly string[]) {
  const asks = Array.from({ length: Number(options.asks) }, (_, i) => {
    const question = stored[Math.floor(((i + 0.5) * stored.length) / Number(options.asks))] ?? ''
    return { question, text: vectorOf(reword(question, i)) }
  })
  const ask = (text: string, threshold: number) =>
    findAnswer(database, {
      projectId: group.projectId,
      requestHash: sha256('never asked'),
      semantic: {
        contextHash: sha256('context'),
        normalizedHash: sha256('never asked'),
        vector: { spaceId: group.spaceId, text },
        threshold,
      },
      maxAgeSeconds: null,
    })
  for (const { text } of asks.slice(0, 20)) await ask(text, THRESHOLD)
  const found: Awaited<ReturnType<typeof ask>>[] = []
  const spentMs = await countProcessorMs(database, async () => {
    for (const { text } of asks) found.push(await ask(text, THRESHOLD))
  })
  const findMs = spentMs / asks.length

  let [above, right] = [0, 0]
  for (const [i, { text }] of asks.entries()) {
    // The correct result: every prompt of the group is compared.
    const [nearest] = await database.call<{ similarity: number }>(
      `select 1 - min(p.embedding <=> $1::halfvec) as similarity from cache_prompts p
       where p.project_id = $2 and p.context_hash = decode($3, 'hex')`,
      [text, group.projectId, sha256('context')],
    )
    if (!nearest || nearest.similarity <= THRESHOLD) continue
    above++
    const best = Math.max(...(found[i] ?? []).map(row => (row.match === 'similar' ? row.similarity : 0)))
    if (best >= nearest.similarity - 1e-6) right++
  }
  return { findMs, above, recall: above === 0 ? null : right / above }
}

const stores = await prepareStores()
const database = openRealDatabase({ url: stores.environment.DATABASE_URL, maxConnections: 1 })
try {
  const project = await database.queries.selectFrom('projects').select('id').executeTakeFirstOrThrow()
  const space = { ...embedder.space, build_lists: database.buildsLists }
  const spaceId = await call(database, 'register_embedding_space', space)
  const group = { projectId: Number(project.id), spaceId }
  await fillBeside(database, group)
  const sizes = options.sizes.split(',').map(Number)
  const questions = listQuestions(Math.max(...sizes))
  const rows = []
  let stored = 0
  for (const size of sizes) {
    let [count, storeMs] = [0, 0]
    while (stored < size) {
      const batch = questions.slice(stored, Math.min(size, stored + BATCH)).map(question => answerTo(question, group))
      storeMs += await countProcessorMs(database, () => storeAnswers(database, batch))
      count += batch.length
      stored += batch.length
    }
    const startedAtMs = performance.now()
    await rebuildCacheLists(database)
    const rebuildMs = performance.now() - startedAtMs
    const { findMs, above, recall } = await measure(database, group, questions.slice(0, size))
    const [bytes] = await database.call<{ bytes: number }>(
      `select sum(pg_total_relation_size(c.oid))::float8 / (select count(*) from cache_entries) as bytes from pg_class c
       where c.relkind = 'r' and (c.relname in ('cache_entries', 'cache_prompts') or c.relname like 'cache\\_lists\\_%')`,
      [],
    )
    const row = { size, findMs, recall, above, storeMs: storeMs / count, rebuildMs, bytesAnEntry: bytes?.bytes ?? null }
    rows.push(row)
    process.stdout.write(
      `${String(size).padStart(8)} prompts: find ${findMs.toFixed(3)} ms, recall@1 ${recall?.toFixed(3) ?? '-'} of ${above}, store ${row.storeMs.toFixed(3)} ms an answer, upkeep took ${Math.round(rebuildMs)} ms, ${Math.round(row.bytesAnEntry ?? 0)} bytes an entry\n`,
    )
  }
  await Bun.write(options.out, `${JSON.stringify({ at: new Date().toISOString(), options, rows }, null, 2)}\n`)
} finally {
  await database.close()
  await stores.drop()
}
