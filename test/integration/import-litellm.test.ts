/** Imports a made-up company from LiteLLM's configuration and database. With real stores, both databases are on a real PostgreSQL. */
import { fileURLToPath } from 'node:url'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { listVendors } from '../../src/catalogue/vendor-directory.ts'
import { readConfig } from '../../src/config/config.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../../src/postgres/embedded/embedded.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { importLiteLlm, type LiteLlmImportOptions } from '../../src/process/commands/import.ts'
import { EMPTY_CONFIG, readLiteLlmConfig, readLiteLlmDatabase } from '../../src/process/import/litellm-source.ts'
import { planModels } from '../../src/process/import/models.ts'
import { ImportReport } from '../../src/process/import/report.ts'
import { describeBackends, type Stores } from '../harness/backends.ts'
import { startUpstreams, type Upstreams } from '../harness/direct-upstreams.ts'
import { blocksOf, findBlock, runDocsBlock } from '../harness/docs-blocks.ts'
import { createCompany } from '../harness/litellm-company.ts'
import { startProxy } from '../harness/proxy.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'

const FIXTURES = fileURLToPath(new URL('../fixtures/litellm/', import.meta.url))
const ENVIRONMENT = {
  HANSE_OPENAI_KEY: 'sk-vendor-openai-1',
  HANSE_OPENAI_KEY_2: 'sk-vendor-openai-2',
  HANSE_AZURE_KEY: 'azure-vendor-key-3',
  HANSE_GROQ_KEY: 'gsk-vendor-key-4',
}
const SECRETS = [...Object.values(ENVIRONMENT), 'sk-ant-in-the-file', 'sk-hanse-1']
const INSTALLATION = { ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }
const CONFIG = readConfig(INSTALLATION)

/** Of which a company has more than one team. */
const COMPANY_KEYS = 45

let source: EmbeddedDatabase
let upstreams: Upstreams
beforeAll(async () => {
  upstreams = await startUpstreams()
  source = await openEmbeddedDatabase({ directory: null, psql: { port: 0, password: 'litellm' } })
  await fillSource(source)
}, 60_000)

async function fillSource(database: Pick<EmbeddedDatabase, 'runScript'>): Promise<void> {
  await database.runScript(await createCompany(0, 'litellm'))
  await database.runScript(await createCompany(COMPANY_KEYS, 'company'))
}
afterAll(async () => {
  await Promise.all([source.close(), upstreams.stop()])
})

const PAGE = 'docs/move-from-litellm.md'

/** Runs a shell block of the docs beside config.yaml. */
const runBlock = (block: string, environment: Record<string, string>) => runDocsBlock(block, FIXTURES, environment)

const embeddedSourceUrl = () => `postgresql://postgres:litellm@127.0.0.1:${source.psqlPort}/postgres`
const inSchema = (url: string, schema: string) => `${url}?schema=${schema}&connection_limit=5&sslmode=disable`

describeBackends('import litellm', backend => {
  let stores: Stores
  let sourceUrl: string
  let runInSource: (sql: string) => Promise<void>
  beforeAll(async () => {
    const { databaseUrl } = await backend.open()
    sourceUrl = databaseUrl ?? embeddedSourceUrl()
    if (databaseUrl === null) runInSource = sql => source.runScript(sql)
    else {
      const real = openServerDatabase({ url: databaseUrl, maxConnections: 1 })
      await fillSource(real)
      runInSource = sql => real.runScript(sql)
      return () => real.close()
    }
  })
  beforeEach(async () => {
    stores = await backend.open()
  })

  async function importAll(options: Partial<LiteLlmImportOptions> = {}): Promise<string> {
    return importLiteLlm(stores.database, CONFIG, {
      config: await readLiteLlmConfig(`${FIXTURES}config.yaml`),
      source: await readLiteLlmDatabase(inSchema(sourceUrl, 'litellm')),
      ...{ isDryRun: false, plan: 'enterprise', project: 'personal', keysUntil: undefined, environment: ENVIRONMENT },
      ...options,
    })
  }

  /** Everything that an import writes, as text, without times of its own. */
  async function readAll(): Promise<string> {
    const tables = [
      'projects',
      'api_keys',
      'budgets',
      'budget_periods',
      'vendors',
      'vendor_keys',
      'users',
      'memberships',
      'audit_log',
    ]
    const texts = tables.map(async table => {
      const rows = await stores.database.call<{ row: unknown }>(
        `select to_jsonb(t) as row from ${table} t order by t::text`,
        [],
      )
      return `${table} ${JSON.stringify(rows)}`
    })
    return (await Promise.all(texts)).join('\n')
  }

  async function budgetsOf(where: string) {
    return stores.database.call<{
      key: string | null
      model: string | null
      per: string
      amount: number
      spent: number
    }>(
      `select k.name as key, b.model, b.per, b.amount::double precision as amount, c.spent::double precision as spent
       from budgets b join projects p on p.id = b.project_id left join api_keys k on k.id = b.key_id
       join budget_periods c on c.budget_id = b.id where ${where} order by b.per, k.name nulls first, b.model nulls first`,
      [],
    )
  }

  test('turns teams into projects with their models, keys and members', async () => {
    await importAll()
    const projects = await stores.database.call<{
      name: string
      aliases: string[]
      allowed_models: string[]
      keys: number
    }>(
      `select name, aliases, allowed_models, (select count(*)::integer from api_keys k where k.project_id = p.id) as keys
       from projects p where imported_id is not null order by id`,
      [],
    )
    expect(projects.map(({ name }) => name)).toEqual([
      'Search',
      'Support',
      'Legal-Contracts',
      'Data',
      'Mobile',
      'Web',
      'Billing',
      'Fraud',
      'Maps',
      'Ops',
      'HR',
      'Old',
      'personal',
    ])
    // The former value of the rotated key is one more.
    expect(projects.reduce((sum, { keys }) => sum + keys, 0)).toBe(41)
    expect(projects[0]?.aliases).toEqual([
      'fast=openai/gpt-4o-mini|groq/llama-3.3-70b-versatile',
      'smart=azure-hanse-eu/gpt-4o-eu|openai/gpt-4o|anthropic/claude-sonnet-4-5|openai/gpt-4o-mini',
      'claude=anthropic/claude-sonnet-4-5',
      'llama=groq/llama-3.3-70b-versatile',
      'house=vllm-llm-hanse-internal-8000/qwen3-32b',
      'gemini=gemini/gemini-2.5-flash',
      'embed=openai/text-embedding-3-small',
      'second=openai-2/gpt-4o',
      'gpt-4=azure-hanse-eu/gpt-4o-eu|openai/gpt-4o|anthropic/claude-sonnet-4-5|openai/gpt-4o-mini',
      'best=anthropic/claude-sonnet-4-5',
    ])
    expect(projects[4]?.allowed_models).toEqual(['fast', 'embed'])
    expect(projects[6]?.allowed_models).toContain('house')
    const members = await stores.database.call(
      `select u.email, u.role as rights, m.role from memberships m join users u on u.id = m.user_id order by 1`,
      [],
    )
    expect(members).toEqual([
      { email: 'ada@hanse.example', rights: 'reader', role: 'owner' },
      { email: 'ben@hanse.example', rights: 'reader', role: 'viewer' },
    ])
  })

  test.each([
    [undefined, 'https://api.openai.com/v1', false],
    ['https://eu.api.openai.com/v1', 'https://eu.api.openai.com/v1', false],
    ['http://127.0.0.1:8000/v1', 'http://127.0.0.1:8000/v1', true],
  ])(
    'a second key of a vendor is used at its address here: OPENAI_BASE_URL=%s',
    async (OPENAI_BASE_URL, address, isPrivate) => {
      await importAll({ environment: { ...ENVIRONMENT, OPENAI_BASE_URL } })
      expect(
        await stores.database.call(`select base_url, allows_private_address from vendors where name = 'openai-2'`, []),
      ).toEqual([{ base_url: address, allows_private_address: isPrivate }])
    },
  )

  test('a vendor’s key that was replaced here stays, and is named', async () => {
    await importAll()
    const stored = () => stores.database.call<{ last_four: string }>('select * from vendor_keys order by vendor', [])
    const before = await stored()
    expect(before.length).toBeGreaterThan(1)
    expect(await importAll()).not.toContain('another is stored here')
    const environment = { ...ENVIRONMENT, HANSE_GROQ_KEY: 'gsk-another' }
    const named = /^key of vendor groq +another is stored here and stays; .* set-vendor groq --key -$/m
    for (const isDryRun of [true, false]) expect(await importAll({ environment, isDryRun })).toMatch(named)
    expect(await stored()).toEqual(before)
    await stores.database.call(`delete from vendor_keys where vendor = 'groq'`, [])
    expect(await importAll({ environment })).not.toContain('another is stored here')
    expect(await stored()).toHaveLength(before.length)
  })

  test('imports limits of keys, of which the lower of two applies', async () => {
    await importAll()
    const keys = await stores.database.call<Record<string, unknown>>(
      `select name, requests_per_minute, tokens_per_minute, allowed_models, deactivated_at is not null as blocked, expires_at <= now() as expired
       from api_keys where is_imported and name in ('app-2', 'app-4', 'app-5', 'app-6', 'app-12', 'app-16', 'sk-...e-39') order by id`,
      [],
    )
    const none = {
      requests_per_minute: null,
      tokens_per_minute: null,
      allowed_models: null,
      blocked: false,
      expired: null,
    }
    expect(keys.sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1))).toEqual([
      { ...none, name: 'app-12', blocked: true },
      { ...none, name: 'app-16', requests_per_minute: 50 },
      { ...none, name: 'app-2', allowed_models: ['fast'] },
      { ...none, name: 'app-4', requests_per_minute: 10, tokens_per_minute: 9000 },
      { ...none, name: 'app-5', blocked: true },
      { ...none, name: 'app-6', expired: true },
      { ...none, name: 'sk-...e-39' },
    ])
  })

  test('imports budgets of teams, keys, models and members with what was spent', async () => {
    await importAll()
    expect(await budgetsOf(`p.name = 'Search'`)).toEqual([
      { key: null, model: 'azure-hanse-eu/gpt-4o-eu', per: 'day', amount: 7.5, spent: 0 },
      { key: null, model: null, per: 'month', amount: 100, spent: 1 },
      // Of the member's 30 dollars, of which 4 are spent, each of two keys gets half.
      { key: 'app-1', model: null, per: 'month', amount: 15, spent: 2 },
      { key: 'app-13', model: null, per: 'month', amount: 15, spent: 2 },
    ])
    expect(await budgetsOf(`p.name = 'Support'`)).toEqual([
      { key: null, model: null, per: 'day', amount: 400, spent: 2 },
    ])
    expect(await budgetsOf(`p.name = 'Legal-Contracts'`)).toEqual([
      { key: 'app-3', model: null, per: 'day', amount: 12, spent: 2.5 },
      { key: null, model: null, per: 'total', amount: 300, spent: 3 },
    ])
    expect(await budgetsOf(`k.name = 'app-8'`)).toEqual([
      { key: 'app-8', model: 'openai/gpt-4o-mini', per: 'month', amount: 3, spent: 0 },
    ])
    expect(await budgetsOf(`p.name = 'personal'`)).toEqual([
      { key: 'app-40', model: null, per: 'week', amount: 20, spent: 0 },
    ])
  })

  test('a second import changes nothing, and one after further spending counts the difference', async () => {
    await importAll()
    const before = await readAll()
    expect(await importAll()).toContain('key: 0 new, 0 changed, 41 unchanged')
    expect(await readAll()).toBe(before)
    await stores.database.call(
      `update budget_periods c set spent = spent + 5 from budgets b where b.id = c.budget_id and b.amount = 300`,
      [],
    )
    await runInSource(`update litellm."LiteLLM_TeamTable" set spend = 13 where team_id = 'team-3'`)
    try {
      await importAll()
      expect((await budgetsOf(`p.name = 'Legal-Contracts' and k.id is null`))[0]?.spent).toBe(18)
    } finally {
      await runInSource(`update litellm."LiteLLM_TeamTable" set spend = 3 where team_id = 'team-3'`)
    }
  })

  test('deactivates keys that were deleted there, also the last one of a team, and names those of a team that is gone', async () => {
    const company = await readLiteLlmDatabase(inSchema(sourceUrl, 'litellm'))
    await importAll()
    const active = () =>
      stores.database.call<{ name: string }>(
        `select k.name from api_keys k join projects p on p.id = k.project_id
         where p.imported_id in ('litellm:team-3', 'litellm:team-11') and k.deactivated_at is null order by k.id`,
        [],
      )
    await stores.database.call(`update api_keys set deactivated_at = now() where name = 'app-35'`, [])
    const names = (await active()).map(({ name }) => name)
    const without = {
      ...company,
      VerificationToken: company.VerificationToken.filter(
        ({ team_id }) => team_id !== 'team-3' && team_id !== 'team-11',
      ),
      TeamTable: company.TeamTable.filter(({ team_id }) => team_id !== 'team-11'),
    }
    expect(await importAll({ source: without })).toContain(
      'key: 2 active keys of teams that this database of LiteLLM does not have',
    )
    const left = (await active()).map(({ name }) => name)
    expect(names.length).toBeGreaterThan(left.length)
    expect(left).toEqual(['app-11', 'app-23'])
    // A database of LiteLLM without their teams may be another one, so they stay.
    expect(await importAll({ source: without })).toContain('key: 0 new, 0 changed')
  })

  test('an audit finds nothing in what was imported, be it spent beyond the budget or more than before', async () => {
    const audit = () =>
      stores.database.call(
        `select kind, subject from run_audit(now() - interval '1 day', now() + interval '1 hour')`,
        [],
      )
    await importAll()
    expect(await audit()).toEqual([])
    await runInSource(`update litellm."LiteLLM_TeamTable" set spend = 999 where team_id = 'team-3'`)
    try {
      await importAll()
      expect((await budgetsOf(`p.name = 'Legal-Contracts' and k.id is null`))[0]?.spent).toBe(999)
      expect(await audit()).toEqual([])
    } finally {
      await runInSource(`update litellm."LiteLLM_TeamTable" set spend = 3 where team_id = 'team-3'`)
    }
    // What was spent here without a record is found.
    await stores.database.call(`update budget_periods set spent = spent + 0.5 where imported = 999`, [])
    expect(await audit()).toMatchObject([{ kind: 'spent_without_record' }])
  })

  test('imports a company of several teams, and nothing again', async () => {
    const company = await readLiteLlmDatabase(inSchema(sourceUrl, 'company'))
    const first = await importAll({ source: company })
    // With the keys, teams and budgets of the other company; each second key has a budget, each fourth one of a model.
    for (const counts of ['project: 16 new', `key: ${41 + COMPANY_KEYS} new`, 'budget: 65 new'])
      expect(first).toContain(`${counts}, 0 changed, 0 unchanged`)
    const before = await readAll()
    const second = await importAll({ source: company })
    for (const counts of ['project: 0 new, 0 changed, 16', `key: 0 new, 0 changed, ${41 + COMPANY_KEYS}`])
      expect(second).toContain(`${counts} unchanged`)
    expect(await readAll()).toBe(before)
    expect(await budgetsOf(`k.name = 'service-20'`)).toMatchObject([
      // Of the member's 30 dollars, each of four keys gets a part.
      { model: null, per: 'month', amount: 7.5 },
      { model: 'openai/gpt-4o-mini', per: 'month', amount: 3 },
      { model: null, per: 'week', amount: 50, spent: 6 },
    ])
  })

  test('a new budget of a project in use counts what was spent here, and a known one is not counted twice', async () => {
    const company = await readLiteLlmDatabase(inSchema(sourceUrl, 'litellm'))
    const withBudget = (max_budget: number | null) => ({
      ...company,
      TeamTable: company.TeamTable.map(team =>
        team.team_id === 'team-3' ? { ...team, max_budget, spend: 0, budget_duration: '30d' } : team,
      ),
    })
    await importAll({ source: withBudget(null) })
    await stores.database.call(
      `insert into monthly_counters (project_id, key_type, month, requests)
       select id, 'project', date_trunc('month', now() at time zone 'UTC'), 1 from projects where name = 'Legal-Contracts'`,
      [],
    )
    await stores.database.call(
      `insert into usage_pending
       select p.id, date_bin('15 minutes', now(), 'epoch'), k.id, 'chat', 'openai/gpt-4o', 'openai', 'MISS', 2, 1, 1, 0, 1, 0, 4, 0, 1, 1, 0, 0
       from projects p join api_keys k on k.project_id = p.id where p.name = 'Legal-Contracts' limit 1`,
      [],
    )
    const spent = async () => (await budgetsOf(`p.name = 'Legal-Contracts' and k.id is null`))[0]?.spent
    await importAll({ source: withBudget(300) })
    expect(await spent()).toBe(4)
    await importAll({ source: withBudget(300) })
    expect(await spent()).toBe(4)
  })

  test('imports values at the edges of what both gateways accept', async () => {
    const company = await readLiteLlmDatabase(inSchema(sourceUrl, 'litellm'))
    const token = (key: string, columns: Record<string, unknown>) => ({
      ...{ token: Bun.SHA256.hash(key, 'hex'), key_name: 'sk-...edge', team_id: 'edge', ...columns },
    })
    const output = await importAll({
      source: {
        ...company,
        TeamTable: [
          {
            ...{ team_id: 'edge', team_alias: '検索', models: ['with space'], max_budget: 1e300, spend: 1e300 },
            members_with_roles: [
              { role: 'user', user_email: 'Two@b.example' },
              { role: 'admin', user_email: 'two@b.example ' },
            ],
          },
        ],
        VerificationToken: [
          token('edge-1', {
            key_alias: `${'a'.repeat(99)}😀😀`,
            rpm_limit: 1e18,
            max_budget: 0.1,
            budget_duration: 'x',
          }),
          token('edge-2', { key_alias: 'a\u2028b\tc', models: ['a'.repeat(300)], blocked: null, expires: null }),
          token('edge-3', { key_alias: 'a b c', created_at: '2999-01-01T00:00:00' }),
        ],
      },
    })
    expect(output).toContain('key: 3 new')
    const [members, [project]] = await Promise.all([
      stores.database.call(
        `select m.role from memberships m join users u on u.id = m.user_id where u.email = 'two@b.example'`,
        [],
      ),
      stores.database.call(`select allowed_models from projects where name = 'edge'`, []),
    ])
    expect(members).toEqual([{ role: 'owner' }])
    expect(project).toEqual({ allowed_models: ['no-models'] })
  })

  test('a dry run changes nothing and reports each setting without a counterpart, with its reason and no secret', async () => {
    const before = await readAll()
    const report = await importAll({ isDryRun: true })
    expect(await readAll()).toBe(before)
    expect(report).toContain('key: 41 new, 0 changed, 0 unchanged')
    for (const [setting, reason] of [
      ['router_settings.routing_strategy', 'an alias calls its first model'],
      ['litellm_settings.success_callback', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
      ['general_settings.master_key', 'create-admin'],
      ['litellm_params.max_tokens', 'parameters are not added to requests'],
      ['key of vendor gemini', 'HANSE_GEMINI_KEY is not set here'],
      ['model exotic', 'no vendor for sagemaker/'],
      ['customer budgets (2 times)', 'give a key to each customer'],
      ['tag batch', 'X-Proxy-Tags'],
      ['organization hanse and its budget', 'an installation is one organization'],
      ['administrator Ada@hanse.example', '--promote'],
      ['team soft_budget', 'spend alert'],
      ['key metadata.tags', 'X-Proxy-Tags'],
      ['members without an e-mail address', 'log in with their e-mail'],
    ] as const) {
      const line = report.split('\n').find(each => each.startsWith(setting))
      expect(line, setting).toContain(reason)
    }
    expect(report).toMatch(/^key +sk-\.\.\.e-6 app-6 +key of Web +expired$/m)
    expect(report).toMatch(/^key +sk-\.\.\.e-4 app-4 +key of Data +its tpm limit counts max_tokens before a call/m)
    expect(report).toMatch(/^key +sk-\.\.\.e-39 +key of Legal-Contracts$/m)
    for (const secret of SECRETS) expect(report).not.toContain(secret)
  })

  test('models get the price that their vendor has, here or at the aggregator; a budget rejects those without one until it is added', async () => {
    const models = (model: string, info: Record<string, unknown> = {}) => [
      { name: 'm', params: { model, api_key: 'k' }, info },
    ]
    const priceOf = async (model: string, info?: Record<string, unknown>) => {
      const written = {
        ...EMPTY_CONFIG,
        models: models(model, info).map(each => ({
          ...each,
          params: { ...each.params, api_base: 'https://x.openai.azure.com' },
        })),
      }
      const report = await importAll({
        config: model.startsWith('azure') ? written : { ...EMPTY_CONFIG, models: models(model, info) },
        source: null,
        isDryRun: true,
      })
      return /^price of \S+ +(.*)$/m.exec(report)?.[1] ?? 'known'
    }
    expect(await priceOf('openai/gpt-4o')).toBe('known')
    expect(await priceOf('gemini/gemini-2.5-pro')).toContain('the aggregator’s for google/gemini-2.5-pro')
    expect(await priceOf('xai/grok-4.5')).toContain('the aggregator’s for x-ai/grok-4.5')
    expect(await priceOf('openrouter/openai/gpt-oss-120b')).toContain('the aggregator’s for openai/gpt-oss-120b')
    // Another vendor's price of the same weights.
    expect(await priceOf('together_ai/openai/gpt-oss-120b')).toContain('not known')
    expect(await priceOf('azure/gpt-4o')).toBe('known')
    expect(await priceOf('azure/ours', { base_model: 'azure/gpt-4o' })).toBe('known')
    expect(await priceOf('azure/ours')).toContain('model_info.base_model')

    expect(await importAll({ isDryRun: true })).toMatch(/^price of azure-hanse-eu\/gpt-4o-eu/m)
    await importAll()
    const statement =
      /"(insert[^"]*)"/.exec(findBlock('docs/providers.md', 'insert into model_proxy.models'))?.[1] ?? ''
    await stores.database.call(statement, [])
    expect(await importAll({ isDryRun: true })).not.toMatch(/^price of azure-hanse-eu/m)
    const address = upstreams.environment.OPENAI_BASE_URL ?? ''
    const environment = {
      ...{ ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') },
      ...{ GEMINI_BASE_URL: address, GEMINI_API_KEY: 'k', AZURE_HANSE_EU_BASE_URL: address },
    }
    const proxy = await startProxy({ stores, environment })
    try {
      const client = new OpenAI({ apiKey: 'sk-hanse-1', baseURL: proxy.baseUrl, maxRetries: 0 })
      for (const model of ['smart', 'gemini']) {
        const answer = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hi' }] })
        expect(answer.choices[0]?.message.content).toBeTruthy()
      }
    } finally {
      await proxy.stop()
      await stores.database.call(`delete from models where provider = 'azure-hanse-eu'`, [])
    }
  })

  test('a failure changes nothing and names the cause in one line', async () => {
    await importAll({ source: null, config: null, keysUntil: null })
    await stores.database.call(`insert into projects (name, plan) values ('HR', 'pro')`, [])
    const before = await readAll()
    const error = await importAll().catch((error: Error) => error)
    expect(error).toMatchObject({
      message:
        'project "HR" exists already: rename it here, or the team or path of this name at litellm; for keys without a team or path, choose another --project',
    })
    expect(await readAll()).toBe(before)
    await callFunction(stores.database, 'update_project', { project: 'HR', new_name: 'HR-here', new_plan: null })
    expect(await importAll()).toMatch(/^ {2}project: \d+ new, 0 changed/m)
  })

  test('keys without a team get another project if one of that name was created here', async () => {
    await stores.database.call(`insert into projects (name, plan) values ('personal', 'pro')`, [])
    await expect(importAll()).rejects.toThrow('choose another --project')
    expect(await importAll({ project: 'without-team' })).toContain('project without-team')
  })

  test('finds vendors by their name, by LiteLLM’s, and by the name in its price table', async () => {
    const vendors = await listVendors(stores.database)
    const vendorOf = (model: string) => {
      const models = [{ name: 'm', params: { model, api_base: 'https://llm.example.org/v1' }, info: {} }]
      const written = { ...EMPTY_CONFIG, models }
      const { targets } = planModels(written, {
        vendors,
        environment: {},
        priced: new Set(),
        report: new ImportReport(),
      })
      return targets.get('m')?.[0]?.replace(/(?:-llm-example)?\/.*$/, '')
    }
    const written = ['groq', 'together_ai', 'fireworks_ai', 'cohere_chat', 'zai', 'hosted_vllm', 'ollama_chat', 'azure']
    expect(written.map(prefix => vendorOf(`${prefix}/a-model`))).toEqual([
      'groq',
      'together',
      'fireworks',
      'cohere',
      'zhipu',
      'vllm',
      'ollama',
      'azure',
    ])
    expect([vendorOf('gpt-4o'), vendorOf('claude-haiku-4-5'), vendorOf('sagemaker/x')]).toEqual([
      'openai',
      'anthropic',
      undefined,
    ])
  })

  test('clients keep their keys: an imported one is answered by the imported vendor', async () => {
    const config = await readLiteLlmConfig(`${FIXTURES}config.yaml`)
    const models = config.models.map(model =>
      model.name === 'fast'
        ? { ...model, params: { ...model.params, api_base: upstreams.environment.OPENAI_BASE_URL } }
        : model,
    )
    await importAll({ config: { ...config, models } })
    const proxy = await startProxy({ stores, environment: INSTALLATION })
    try {
      const client = (apiKey: string) => new OpenAI({ apiKey, baseURL: proxy.baseUrl, maxRetries: 0 })
      const send = (key: string, model: string) =>
        client(key).chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello' }] })
      const environment = { PROXY: proxy.rootUrl, A_LITELLM_KEY: 'sk-hanse-2' }
      expect(await runBlock(findBlock(PAGE, 'A_LITELLM_KEY'), environment)).toContain('"choices"')
      expect((await send('sk-hanse-1-before', 'fast')).choices[0]?.message.content).toBeTruthy()
      await expect(send('sk-hanse-2', 'claude')).rejects.toMatchObject({ status: 403 })
      await expect(send('sk-hanse-5', 'fast')).rejects.toMatchObject({ status: 403, code: 'api_key_disabled' })
      await expect(send('sk-hanse-6', 'fast')).rejects.toMatchObject({ status: 401 })
      await expect(send('sk-hanse-41', 'fast')).rejects.toMatchObject({ status: 401 })
    } finally {
      await proxy.stop()
    }
  })
})

test('the commands of the docs import into an embedded database', async () => {
  const environment = {
    ...{
      DATA_DIR: createTemporaryDirectory(),
      EMBEDDED_PG_PORT: '0',
      LITELLM_DATABASE_URL: inSchema(embeddedSourceUrl(), 'litellm'),
    },
    ...{ ...ENVIRONMENT, ...INSTALLATION },
  }
  await runBlock('model-proxy migrate', environment)
  const printed: string[] = []
  for (const block of blocksOf(PAGE).filter(text => text.includes('import litellm')))
    printed.push(await runBlock(block.replace(/^export .*$/m, ''), environment))
  expect(printed.map(text => /^(?:Dry run|Imported).*:$/m.exec(text)?.[0])).toEqual([
    'Dry run: nothing was changed. An import would change:',
    'Imported:',
    'Imported:',
  ])
  // The database is in the environment, but nothing else is imported with a date alone.
  expect(printed.at(-1)).toMatch(/^\nImported:\n {2}expiry: 0 new, [1-9]\d changed, 0 unchanged\n$/)
  const past = await runBlock('model-proxy import litellm --keys-until 2020-01-01 2>&1 || true', environment)
  expect(past).toBe('--keys-until must be in the future: all imported keys expire then\n')
}, 300_000)
