/** Plans GoModel's configuration and database, a real SQLite file: what becomes of paths, limits and models, none of which gets wider. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Vendor } from '../../../../src/config/vendors.ts'
import { planGoModelAccounts } from '../../../../src/process/import/gomodel-accounts.ts'
import { planVirtualModels } from '../../../../src/process/import/gomodel-models.ts'
import { readGoModelConfig, readGoModelDatabase } from '../../../../src/process/import/gomodel-source.ts'
import { planModels } from '../../../../src/process/import/models.ts'
import { formatReport, ImportReport } from '../../../../src/process/import/report.ts'
import { planSettings } from '../../../../src/process/import/settings.ts'
import {
  budgetRow,
  createGoModelDatabase,
  type GoModelRows,
  keyRow,
  policyRow,
  redirectRow,
  usageRow,
} from '../../../harness/gomodel-database.ts'
import { createTemporaryDirectory } from '../../../harness/temporary-directory.ts'

const FOLDER = createTemporaryDirectory()
let files = 0
const newFile = (extension: string) => join(FOLDER, `${++files}.${extension}`)

const vendor = (name: string): Vendor =>
  ({
    ...{ name, source: 'seed', base_url: `https://${name}.example/v1`, key_location: 'bearer', model_names: null },
    price_sources: [],
  }) as unknown as Vendor
const VENDORS = [vendor('openai'), vendor('groq'), vendor('anthropic')]

async function plan(rows: GoModelRows, yaml = '{}', { environment = {}, isFormer = false } = {}) {
  const path = newFile('db')
  createGoModelDatabase(path, rows, isFormer).close()
  const configPath = newFile('yaml')
  await writeFile(configPath, yaml)
  const [database, config] = [await readGoModelDatabase(path), await readGoModelConfig(configPath, environment)]
  const report = new ImportReport()
  const virtual = planVirtualModels(database.virtual_models, config, report)
  const models = planModels(virtual.deployments, { vendors: VENDORS, environment, priced: new Set(), report })
  const settings = planSettings(virtual.deployments, models, report)
  const options = { config, virtual, models, settings, defaultProject: 'personal', report }
  return { models, settings, report, ...planGoModelAccounts(database, options) }
}

const DAY = 86_400
const MONTH = 2_592_000

test('a project for each first segment, with its keys by the hash of their prefix and rest', async () => {
  const { projects, keys } = await plan({
    auth_keys: [
      keyRow('aaaa', { user_path: '/team/alpha', expires_at: 1_800_000_000 }),
      keyRow('bbbb', { user_path: ' team / beta ' }),
      keyRow('cccc', { user_path: '/team-alpha', enabled: 0 }),
      keyRow('dddd', { deactivated_at: 1_750_000_000 }),
      keyRow('eeee', { user_path: '/', imported_from: 'litellm' }),
    ],
  })
  expect(projects.map(({ id, name }) => [id, name])).toEqual([
    ['/team', 'team'],
    ['/team-alpha', 'team-alpha'],
    ['no-team', 'personal'],
  ])
  const sha256 = (text: string) => Bun.SHA256.hash(text, 'hex')
  expect(keys.map(({ project, hash, blocked, expires_at }) => [project, hash, blocked, expires_at])).toEqual([
    ['/team', sha256(`sk_gom_${sha256('aaaa')}`), false, '2027-01-15T08:00:00.000Z'],
    ['/team', sha256(`sk_gom_${sha256('bbbb')}`), false, null],
    ['/team-alpha', sha256(`sk_gom_${sha256('cccc')}`), true, null],
    ['no-team', sha256(`sk_gom_${sha256('dddd')}`), true, null],
    // GoModel imported this one from LiteLLM, whose clients send it as it is.
    ['no-team', sha256('eeee'), false, null],
  ])
  expect(keys[0]).toMatchObject({ name: 'aaaa', prefix: 'sk_gom_...aaaa', created_at: '2023-11-14T22:13:20.000Z' })
})

test('budgets of deeper paths are divided among their keys, with what was spent below them', async () => {
  const { budgets, report } = await plan({
    auth_keys: [
      keyRow('one', { user_path: '/team/alpha' }),
      keyRow('two', { user_path: '/team/alpha/service' }),
      keyRow('three', { user_path: '/team-alpha' }),
    ],
    budgets: [
      budgetRow('/team', MONTH, 100),
      budgetRow('/team/alpha', DAY, 10),
      budgetRow('/', MONTH, 500),
      budgetRow('/absent', DAY, 1),
      budgetRow('Mobile-App', DAY, 1, { scope: 'label' }),
    ],
    usage: [
      usageRow('/team', 1),
      usageRow('/team/alpha', 2),
      usageRow(' /team/alpha/service', 3),
      usageRow('team//alpha/service/', 1),
      usageRow('/team/alpha', 8, { cache_type: 'exact' }),
      usageRow('/team/alpha', 16, { timestamp: '2020-01-01T00:00:00Z' }),
      usageRow('/team/alpha', null),
      usageRow('/team-alpha', 32),
      usageRow(null, 64),
    ],
  })
  expect(budgets.map(({ key, ...rest }) => ({ ...rest, ofKey: key !== null }))).toEqual([
    { project: '/team', model: null, per: 'month', amount: 100, spent: 7, ofKey: false },
    { project: '/team', model: null, per: 'day', amount: 5, spent: 3, ofKey: true },
    { project: '/team', model: null, per: 'day', amount: 5, spent: 3, ofKey: true },
  ])
  expect(report.omitted.map(({ setting }) => setting)).toEqual([
    'budget of /',
    'budget of /absent',
    'budget of label Mobile-App',
  ])
})

test('a budget for each child is one of the child, and a reset begins its period', async () => {
  const reset = Math.floor(Date.now() / 1000) - 1
  const { budgets } = await plan({
    auth_keys: [
      keyRow('one', { user_path: '/customers/ann' }),
      keyRow('two', { user_path: '/customers/ann/app' }),
      keyRow('three', { user_path: '/customers/ben' }),
      keyRow('four', { user_path: '/customers' }),
    ],
    budgets: [
      budgetRow('/customers', MONTH, 6, { per_child: 1 }),
      budgetRow('/', DAY, 9, { per_child: 1, last_reset_at: reset }),
    ],
    usage: [
      usageRow('/customers/ann', 4, { timestamp: new Date((reset - 1) * 1000).toISOString() }),
      usageRow('/customers/ben', 1, { timestamp: new Date((reset + 3600) * 1000).toISOString() }),
    ],
  })
  expect(budgets.find(({ per }) => per === 'day')).toMatchObject({ key: null, amount: 9, spent: 1 })
  const monthly = budgets.filter(({ per }) => per === 'month')
  expect(monthly.map(({ amount }) => amount)).toEqual([3, 3, 6])
  expect(monthly.every(({ key }) => key !== null)).toBe(true)
})

test('the lowest rate limit of the paths above applies, and others are listed', async () => {
  const limit = (subject: string, columns: Record<string, string | number>) => ({
    ...{ subject, period_seconds: 60, created_at: 1, updated_at: 1 },
    ...columns,
  })
  const { keys, report } = await plan({
    auth_keys: [keyRow('one', { user_path: '/team/alpha' }), keyRow('two', { user_path: '/team' }), keyRow('three')],
    rate_limits: [
      limit('/team', { max_requests: 100, max_tokens: 9000 }),
      limit('/team/alpha', { max_requests: 40 }),
      limit('/', { max_requests: 60, per_child: 1 }),
      limit('/team', { max_requests: 5, period_seconds: 0 }),
      limit('/team', { max_requests: 5, period_seconds: 86_400 }),
      limit('openai', { scope: 'provider', max_requests: 1 }),
    ],
  })
  expect(keys.map(key => [key.requests_per_minute, key.tokens_per_minute])).toEqual([
    [40, 9000],
    [null, null],
    [60, 9000],
  ])
  expect(report.omitted.map(({ setting }) => setting).sort()).toEqual([
    'limits of concurrent requests',
    'rate limits of other periods',
    'rate limits per provider',
  ])
})

const REDIRECTS = [
  redirectRow('smart', ['openai/gpt-4o', 'anthropic/claude-sonnet-4-5']),
  redirectRow('cheap', ['openai/gpt-4o-mini']),
]

test('lists of models intersect down the path, and allow a redirect only if they allow all of its models', async () => {
  const { projects, keys, report } = await plan(
    {
      auth_keys: [
        keyRow('one', { user_path: '/team/alpha', allowed_models: '["gpt-4o-mini","groq/*"]' }),
        keyRow('two', { user_path: '/team' }),
        keyRow('three', { user_path: '/other' }),
        keyRow('four', { user_path: '/other', allowed_models: '["anthropic/*"]' }),
        keyRow('five', { user_path: '/closed' }),
      ],
      users: [
        { user_path: '/team', allowed_models: '["openai/*"]', created_at: 1, updated_at: 1 },
        { user_path: '/closed', allowed_models: '["*"]', created_at: 1, updated_at: 1 },
      ],
      virtual_models: [...REDIRECTS, redirectRow('groq/shadow', ['openai/o3'])],
    },
    'users: [{path: /closed, allowed_models: [groq/*]}]',
  )
  const allowed = (name: string) => keys.find(key => key.name === name)?.allowed_models
  expect(allowed('one')).toEqual(['cheap'])
  expect(allowed('two')).toEqual(['cheap', 'groq/shadow', 'openai/*'])
  expect(allowed('three')).toBeNull()
  expect(allowed('four')).toEqual(['anthropic/*'])
  // The pattern would allow the redirect to another provider's model.
  expect(allowed('five')).toEqual([])
  expect(projects.map(({ name, settings }) => [name, settings.allowed_models])).toEqual([
    ['closed', ['no-models']],
    ['other', []],
    ['team', ['cheap', 'groq/shadow', 'openai/*']],
  ])
  expect(report.omitted.map(({ setting }) => setting)).toContain('models of key five')
})

test('a list of models names the vendor that a provider becomes', async () => {
  const { keys } = await plan(
    {
      auth_keys: [
        keyRow('one', { allowed_models: '["openai/*","groq/llama"]' }),
        keyRow('two', { user_path: '/team', allowed_models: '["gpt-4o","eu/o3","absent/"]' }),
      ],
    },
    `providers:
  openai: {base_url: "https://llm.corp.example/v1", api_key: a}
  eu: {type: openai, api_key: b}
  groq: {type: groq, api_key: c}`,
  )
  // The vendor openai is another one.
  expect(keys.map(key => key.allowed_models)).toEqual([
    ['openai-llm-corp-example/*', 'groq/llama'],
    ['gpt-4o', '*/gpt-4o', 'eu/o3', 'absent/*'],
  ])
})

test.each([
  ['nobody', policyRow('openai/', { enabled: 0 }), '', [], []],
  ['the team', policyRow('gpt-4o-mini', { user_paths: '["/team"]' }), '', ['smart', 'cheap'], ['smart']],
  ['a part of the team', policyRow('gpt-4o-mini', { user_paths: '["/team/a"]' }), '', ['smart'], ['smart']],
  ['nobody by default', policyRow('openai/gpt-4o-mini'), 'models: {enabled_by_default: false}', ['cheap'], ['cheap']],
])('with models open to %s, a project allows only open redirects', async (_, policy, yaml, team, other) => {
  const { projects } = await plan(
    {
      auth_keys: [keyRow('one', { user_path: '/team' }), keyRow('two', { user_path: '/other' })],
      virtual_models: [...REDIRECTS, policy],
    },
    yaml || '{}',
  )
  const listOf = (names: readonly string[]) => (names.length === 0 ? ['no-models'] : names)
  const sorted = projects.map(({ settings }) => [...(settings.allowed_models as string[])].sort())
  expect(sorted).toEqual([listOf([...team].sort()), listOf(other)])
})

test('redirects become aliases: chains are followed, disabled ones are none, and those for a path belong to its project', async () => {
  const { projects, report } = await plan(
    {
      auth_keys: [keyRow('one', { user_path: '/team' }), keyRow('two', { user_path: '/other' })],
      virtual_models: [
        ...REDIRECTS,
        redirectRow('outer', ['cheap', 'openai/o3']),
        redirectRow('off', ['openai/o3'], { enabled: 0 }),
        redirectRow('ours', ['openai/o3'], { user_paths: '["/team"]' }),
        redirectRow('deep', ['openai/o3'], { user_paths: '["/team/alpha"]' }),
        redirectRow('loop', ['loop', 'ring']),
        redirectRow('ring', ['loop']),
      ],
    },
    'virtual_models: [{source: cheap, target: eu/gpt-4o-mini}]\nproviders: {eu: {type: openai, base_url: "https://eu.example/v1", api_key: $EU_KEY}}',
    { environment: { EU_KEY: 'sk-eu' } },
  )
  const aliases = Object.fromEntries(projects.map(({ name, settings }) => [name, settings.aliases as string[]]))
  expect(aliases.other).toContain('smart=openai/gpt-4o|anthropic/claude-sonnet-4-5')
  expect(aliases.other).toContain('cheap=eu/gpt-4o-mini')
  expect(aliases.other).toContain('outer=eu/gpt-4o-mini|openai/o3')
  expect(aliases.other?.some(alias => /^(off|ours|deep)=/.test(alias))).toBe(false)
  expect(aliases.team).toContain('ours=openai/o3')
  expect(report.omitted.map(({ setting }) => setting)).toEqual(
    expect.arrayContaining(['virtual model off', 'user_paths of deep']),
  )
})

test('no list allows the name of a redirect that has no alias here, because it is that of another model', async () => {
  const rows = {
    auth_keys: [keyRow('one', { user_path: '/team', allowed_models: '["odd/x","off","groq/*"]' })],
    virtual_models: [
      redirectRow('gpt-4o', ['odd/x']),
      redirectRow('off', ['groq/llama'], { enabled: 0 }),
      redirectRow('openai/o3', ['off']),
    ],
  }
  const yaml = 'providers: {odd: {type: unheard-of, api_key: x}}'
  const { keys, report } = await plan(rows, yaml)
  expect(keys[0]?.allowed_models).toEqual(['odd/x', 'off', '*/off', 'groq/*'])
  expect(report.omitted.map(({ setting }) => setting)).toContain('virtual model openai/o3')
  const closed = { ...rows, virtual_models: [...rows.virtual_models, policyRow('openai/', { enabled: 0 })] }
  const { projects } = await plan(closed, yaml)
  expect(projects[0]?.settings).toMatchObject({ aliases: [], allowed_models: ['no-models'] })
})

const OFF = { cache_mode: 'off', semantic_mode: 'off' }
const EXACT = { cache_mode: 'all', semantic_mode: 'off' }
const SEMANTIC = { cache_mode: 'all', semantic_mode: 'on' }
test.each([
  ['simple: {redis: {ttl: 600}}', { ...EXACT, cache_ttl_seconds: 600 }],
  ['simple: {redis: {ttl: 0}}, semantic: {ttl: 7200}', { ...SEMANTIC, cache_ttl_seconds: 3600 }],
  ['simple: {enabled: $NONE}, semantic: {ttl: 0}', SEMANTIC],
  ['semantic: {similarity_threshold: 0.99}', { ...SEMANTIC, semantic_threshold: 0.99, cache_ttl_seconds: 3600 }],
  ['semantic: {enabled: $NONE, ttl: 60}', OFF],
])('caches no more and no longer than GoModel with %s', async (response, expected) => {
  const { settings } = await plan({}, `cache: {response: {${response}}}`, { environment: { NONE: 'false' } })
  const { fallbacks, response_timeout_ms, first_token_timeout_ms, ...cache } = settings
  expect(cache).toEqual(expected)
})

test('closes models by default if a variable says so', async () => {
  const path = newFile('yaml')
  await writeFile(path, 'models: {enabled_by_default: $MODELS_ENABLED}')
  expect((await readGoModelConfig(path, { MODELS_ENABLED: 'false' })).isEnabledByDefault).toBe(false)
  expect((await readGoModelConfig(path, { MODELS_ENABLED: 'true' })).isEnabledByDefault).toBe(true)
})

test('reads providers, with keys by their variables, and settings', async () => {
  const yaml = `
providers:
  openai: {type: openai, api_key: "\${OPENAI_API_KEY}"}
  eu: {type: openai, base_url: "https://\${EU_HOST:-eu.example}/v1", api_key: "$EU_KEY", api_keys: ["key-3"]}
  groq: {type: groq, base_url: "https://groq.internal/v1", api_key: "\${ABSENT}"}
  odd: {type: unheard-of, api_key: "x"}
cache: {response: {simple: {redis: {ttl: 600}}}}
http: {timeout: 30}
guardrails: {enabled: true}
`
  const { models, settings, report } = await plan({}, yaml, {
    environment: { OPENAI_API_KEY: 'sk-1', EU_KEY: 'sk-2' },
  })
  expect(models.vendors.map(({ name, columns, key }) => [name, columns.base_url, key])).toEqual([
    ['openai', undefined, 'sk-1'],
    ['eu', 'https://eu.example/v1', 'sk-2'],
    ['groq-groq-internal', 'https://groq.internal/v1', null],
  ])
  const patterns = report.lines.filter(({ kind }) => kind === 'model').map(({ from, to }) => [from, to])
  expect(patterns).toEqual([
    ['openai/*', 'openai/*'],
    ['eu/*', 'eu/*'],
    ['groq/*', 'groq-groq-internal/*'],
  ])
  expect(settings).toMatchObject({ cache_mode: 'all', semantic_mode: 'off', cache_ttl_seconds: 600 })
  expect(settings.response_timeout_ms).toEqual(['30000'])
  const omitted = report.omitted.map(({ setting }) => setting)
  for (const setting of ['model odd/*', 'guardrails', 'further keys of eu']) expect(omitted).toContain(setting)
  expect(formatReport(report, 'GoModel')).not.toMatch(/sk-1|sk-2|key-3/)
})

test('reads a database of a former version', async () => {
  const { keys, budgets } = await plan(
    {
      auth_keys: [keyRow('one', { user_path: '/team', labels: '["a"]' })],
      budgets: [{ user_path: '/team', period_seconds: DAY, amount: 4, created_at: 1, updated_at: 1 }],
      usage: [usageRow('/team', 1.5)],
    },
    '{}',
    { isFormer: true },
  )
  expect(keys).toMatchObject([{ project: '/team', allowed_models: null }])
  expect(budgets).toMatchObject([{ project: '/team', per: 'day', amount: 4, spent: 1.5 }])
})

test('a key without a certain path or hash is listed, not imported', async () => {
  const path = newFile('db')
  const database = createGoModelDatabase(path, { auth_keys: [keyRow('one'), keyRow('two', { secret_hash: 'none' })] })
  database.run('alter table auth_keys add column user_id text')
  database.run(`update auth_keys set user_id = 'u' where id = 'one'`)
  database.close()
  const report = new ImportReport()
  const config = await readGoModelConfig(undefined, {})
  const source = await readGoModelDatabase(path)
  const virtual = planVirtualModels([], config, report)
  const models = planModels(virtual.deployments, { vendors: VENDORS, environment: {}, priced: new Set(), report })
  const options = { config, virtual, models, settings: {}, defaultProject: 'personal', report }
  expect(planGoModelAccounts(source, options)).toEqual({ projects: [], keys: [], budgets: [] })
  expect(report.omitted.map(({ setting }) => setting)).toEqual(['key one', 'key two'])
})

test('a database or list that cannot be read is an error of one line', async () => {
  await expect(readGoModelDatabase(newFile('db'))).rejects.toThrow(
    /^GoModel’s database cannot be read: there is no such file$/,
  )
  const text = newFile('db')
  await writeFile(text, 'no database, but a text that is long enough to be none')
  await expect(readGoModelDatabase(text)).rejects.toThrow(/^GoModel’s database cannot be read: .*$/)
  const former = newFile('db')
  const database = createGoModelDatabase(former, {})
  database.run('drop table virtual_models')
  database.close()
  await expect(readGoModelDatabase(former)).rejects.toThrow('start a newer version of GoModel')
  await expect(readGoModelConfig(undefined, { USERS: '[{' })).rejects.toThrow('USERS is not a JSON array')
  const { users, virtualModels } = await readGoModelConfig(undefined, {
    USERS: '[{"path": "/a"}]',
    VIRTUAL_MODELS: '[{"source": "b"}]',
  })
  expect([users, virtualModels]).toEqual([[{ path: '/a' }], [{ source: 'b' }]])
})
