import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../../src/postgres/embedded/embedded.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { queriesOf } from '../harness/queries.ts'

interface Row {
  provider: string
  model: string
  kind: string
  context_tokens: number | null
  max_output_tokens: number | null
  input: number
  cached_input: number | null
  cache_write: number | null
  output: number
  source: string
  as_of: string
}

const mainVendors = [
  'openai',
  'anthropic',
  'google',
  'meta-llama',
  'mistralai',
  'deepseek',
  'qwen',
  'x-ai',
  'cohere',
  'amazon',
]

describe('model catalogue', () => {
  let database: EmbeddedDatabase
  let rows: Row[]

  beforeAll(async () => {
    const template = new Blob([await Bun.file(inject('embeddedTemplate')).bytes()])
    database = await openEmbeddedDatabase({ directory: null, psql: null, template })
    rows = await readRows()
  })
  afterAll(() => database.close())

  async function readRows(): Promise<Row[]> {
    const result = await sql<Row>`
      select provider, model, kind, context_tokens, max_output_tokens, source, as_of,
        input_usd_per_million::float8 as input, cached_input_usd_per_million::float8 as cached_input,
        cache_write_usd_per_million::float8 as cache_write, output_usd_per_million::float8 as output
      from models order by provider, model`.execute(queriesOf(database))
    return result.rows
  }

  const of = (provider: string) => rows.filter(row => row.provider === provider)
  const names = (found: readonly Row[]) => found.map(row => `${row.provider} ${row.model}`)

  test('has every provider and many models of the main vendors', () => {
    expect([...new Set(rows.map(row => row.provider))]).toEqual(['aggregator', 'anthropic', 'groq', 'openai'])
    const byMainVendors = of('aggregator').filter(row => mainVendors.includes(row.model.split('/')[0] ?? ''))
    expect(byMainVendors.length).toBeGreaterThanOrEqual(60)
    for (const vendor of mainVendors) {
      expect(of('aggregator').filter(row => row.model.startsWith(`${vendor}/`)).length).toBeGreaterThanOrEqual(4)
    }
    expect(of('openai').length).toBeGreaterThanOrEqual(20)
    expect(of('anthropic').length).toBeGreaterThanOrEqual(10)
    expect(of('groq').length).toBeGreaterThanOrEqual(8)
  })

  test('names models as a client writes them', () => {
    expect(names(of('aggregator').filter(row => !/^[a-z0-9-]+\/[a-z0-9.:-]+$/.test(row.model)))).toEqual([])
    expect(names(of('openai').filter(row => !/^[a-z0-9.-]+$/.test(row.model)))).toEqual([])
    expect(names(of('anthropic').filter(row => !/^claude-[a-z0-9-]+$/.test(row.model)))).toEqual([])
    expect(names(of('groq'))).toContain('groq openai/gpt-oss-120b')
    expect(names(of('groq'))).toContain('groq meta-llama/llama-4-scout-17b-16e-instruct')
    expect(names(of('groq'))).toContain('groq llama-3.3-70b-versatile')
  })

  test('has plausible prices', () => {
    // OpenAI's moderation is free. whisper-1 is charged by the second, 0.006 a minute.
    expect(rows.find(row => row.model === 'whisper-1')).toMatchObject({ input: 100, output: 0 })
    const paid = rows.filter(row => row.kind !== 'moderation' && row.model !== 'whisper-1')
    expect(names(paid.filter(row => !(row.input > 0 && row.input <= 50)))).toEqual([])
    const embeddings = rows.filter(row => row.kind === 'embedding')
    expect(names(embeddings.filter(row => row.output !== 0 || row.max_output_tokens !== null))).toEqual([])
    // Speech that is charged by the character has no output price.
    const others = paid.filter(row => row.kind !== 'embedding' && !(row.kind === 'speech' && row.output === 0))
    expect(names(others.filter(row => !(row.output >= row.input && row.output <= 200)))).toEqual([])
    // Cached input is cheaper. Writing to the cache costs between a tenth of the input price and half more than it.
    expect(names(rows.filter(row => row.cached_input !== null && !(row.cached_input < row.input)))).toEqual([])
    expect(names(rows.filter(row => row.cache_write !== null && row.cache_write > row.input * 1.5))).toEqual([])
    expect(names(of('anthropic').filter(row => row.cache_write !== row.input * 1.25))).toEqual([])
  })

  test('has plausible limits', () => {
    const limits = rows.filter(row => row.context_tokens !== null && row.max_output_tokens !== null)
    expect(limits.length).toBeGreaterThan(rows.length / 2)
    const contexts = rows.flatMap(row => row.context_tokens ?? [])
    expect(Math.min(...contexts)).toBeGreaterThanOrEqual(4_000)
    expect(Math.max(...contexts)).toBeLessThanOrEqual(10_000_000)
    // The completions model of 2023 is listed with one token more of output than of context.
    expect(names(limits.filter(row => (row.max_output_tokens ?? 0) > (row.context_tokens ?? 0) + 1))).toEqual([])
  })

  test('has a source and a date for every row', () => {
    expect(names(rows.filter(row => !/^[a-z.]+\.(ai|com)(\/|$)/.test(row.source)))).toEqual([])
    const today = new Date().toISOString().slice(0, 10)
    expect(names(rows.filter(row => row.as_of < '2022-01-01' || row.as_of > today))).toEqual([])
  })

  test('covers every endpoint', () => {
    const kinds = (provider: string) => new Set(of(provider).map(row => row.kind))
    expect(kinds('aggregator')).toEqual(new Set(['chat', 'completion', 'embedding']))
    expect(kinds('openai')).toEqual(
      new Set(['chat', 'completion', 'embedding', 'image', 'moderation', 'speech', 'transcription']),
    )
  })

  test('seeding again leaves an operator’s row unchanged and restores the others', async () => {
    await sql`update models set input_usd_per_million = 1.9, source = 'operator' where provider = 'openai' and model = 'gpt-4.1'`.execute(
      queriesOf(database),
    )
    await sql`update models set input_usd_per_million = 7 where provider = 'openai' and model = 'gpt-4o'`.execute(
      queriesOf(database),
    )
    await sql`delete from models where provider = 'groq'`.execute(queriesOf(database))
    await sql`delete from schema_migrations where name like 'seed/%'`.execute(queriesOf(database))
    expect(await migrate(database)).toMatchObject({ applied: ['seed'], isOlderRelease: false })

    const after = await readRows()
    const priceOf = (model: string) => after.find(row => row.provider === 'openai' && row.model === model)?.input
    expect(priceOf('gpt-4.1')).toBe(1.9)
    expect(priceOf('gpt-4o')).toBe(2.5)
    expect(after).toHaveLength(rows.length)
  })
})
