/** Rows of the table `vendors`: defaults, checks, and columns that the catalogue reads. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../../src/postgres/embedded/embedded.ts'
import { listModels } from '../../src/postgres/list-models.ts'

describe('vendors', () => {
  let database: EmbeddedDatabase

  beforeAll(async () => {
    const template = new Blob([await Bun.file(inject('embeddedTemplate')).bytes()])
    database = await openEmbeddedDatabase({ directory: null, psql: null, template })
    await database.call('set search_path = model_proxy, public', [])
  })
  afterAll(() => database.close())

  /** Inserts a row beside its name, and removes it again. Returns the row. */
  async function insert(columns: Record<string, unknown>): Promise<Record<string, unknown>> {
    const row = { name: 'acme', base_url: 'https://api.acme.example/v1', ...columns }
    const names = Object.keys(row).join(', ')
    const select = `select ${names} from jsonb_populate_record(null::vendors, $1::jsonb)`
    const [inserted] = await database.call<{ row: Record<string, unknown> }>(
      `insert into vendors (${names}) ${select} returning to_jsonb(vendors) as row`,
      [JSON.stringify(row)],
    )
    await database.call('delete from vendors where name = $1', [row.name])
    return inserted?.row ?? {}
  }

  test('have defaults for all columns but two', async () => {
    expect(await insert({})).toEqual({
      name: 'acme',
      title: null,
      base_url: 'https://api.acme.example/v1',
      format: 'openai',
      endpoints: ['chat', 'completions', 'embeddings'],
      path_template: '{path}',
      key_location: null,
      query_parameters: {},
      sent_headers: {},
      allows_private_address: null,
      models_path: '/models',
      accepts_stream_options: true,
      output_limits: null,
      turn_rules: [],
      honours_output_limit: true,
      passes: [],
      keeps: [],
      headers: [],
      model_names: null,
      prefixes_models: false,
      makes_models: false,
      client_agent: null,
      price_sources: [],
      place: 1000,
      source: 'operator',
    })
  })

  test.each([
    { name: 'a-1' },
    { base_url: null },
    { base_url: 'https://10.example.com/v1' },
    { base_url: 'http://127.0.0.1:11434/v1', allows_private_address: true },
    { base_url: 'https://localhost', allows_private_address: true },
    { base_url: 'http://127.0.0.1:11434/v1' },
    { path_template: '/deployments/{model}{path}' },
    { path_template: '/openai/{model}/v1{path}' },
    ...['bearer', 'none', 'header:api-key', 'query:key', null].map(key_location => ({ key_location })),
    { query_parameters: { 'api-version': '2024-10-21' } },
    { sent_headers: { 'X-Version': '2' } },
    { turn_rules: ['empty_reasoning', 'google_signatures', 'nine_character_ids', 'no_extras'] },
    { models_path: null },
    { models_path: '/v2/list' },
    { endpoints: ['chat', 'embeddings', 'responses', 'messages', 'completions'] },
  ])('accepts %j', async columns => {
    expect(await insert(columns)).toMatchObject(columns)
  })

  test.each([
    { name: 'Acme' },
    { turn_rules: ['any'] },
    { name: '1acme' },
    { name: 'acme_1' },
    { name: 'a'.repeat(32) },
    { base_url: 'http://api.acme.example', allows_private_address: false },
    { base_url: 'ftp://api.acme.example' },
    { base_url: 'https://api.acme.example/v1?key=1' },
    { base_url: 'https://user@api.acme.example' },
    ...[
      'localhost',
      '127.0.0.1:8080',
      '10.1.2.3',
      '192.168.0.1',
      '172.20.0.1',
      '169.254.169.254',
      '[::1]',
      'a.internal',
    ].map(host => ({ base_url: `https://${host}/v1`, allows_private_address: false })),
    { path_template: '/deployments/{model}' },
    { path_template: '/{other}{path}' },
    { path_template: '/a?b={path}' },
    ...['basic', 'header', 'header:', 'query:a b', 'header:a\nb'].map(key_location => ({ key_location })),
    { query_parameters: [] },
    { query_parameters: { a: 1 } },
    { sent_headers: { a: null } },
    { models_path: 'models' },
    { models_path: '/models?a=b' },
    { sent_headers: { 'a b': 'c' } },
    { sent_headers: { a: 'b\r\nc: d' } },
    { endpoints: [] },
    { endpoints: ['images'] },
    { output_limits: ['max_output_tokens'] },
    { keeps: ['vectors'] },
    { format: 'gemini' },
    { name: 'aggregator' },
    { title: '' },
    { source: 'else' },
  ])('rejects %j', async columns => {
    await expect(insert(columns)).rejects.toThrow('violates check constraint')
  })

  test('one that keeps no limit makes its models exceed them', async () => {
    const exceeding = async () => (await listModels(database)).filter(({ exceedsLimits }) => exceedsLimits)
    expect(await exceeding()).toEqual([])
    await database.call(`update vendors set honours_output_limit = false where name = 'groq'`, [])
    expect(new Set((await exceeding()).map(({ provider }) => provider))).toEqual(new Set(['groq']))
    await database.call(`update vendors set honours_output_limit = true where name = 'groq'`, [])
  })
})
