/** Plans unusual rows and files of LiteLLM: what becomes of a value that has no counterpart, or that is none. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Vendor } from '../../../../src/config/vendors.ts'
import type { JsonObject } from '../../../../src/formats/json/canonical.ts'
import { convertDuration } from '../../../../src/process/import/budgets.ts'
import { planAccounts } from '../../../../src/process/import/litellm-accounts.ts'
import {
  EMPTY_CONFIG,
  type LiteLlmConfig,
  type LiteLlmDatabase,
  readLiteLlmConfig,
} from '../../../../src/process/import/litellm-source.ts'
import { planModels } from '../../../../src/process/import/models.ts'
import { ImportReport } from '../../../../src/process/import/report.ts'
import { planSettings } from '../../../../src/process/import/settings.ts'
import { createTemporaryDirectory } from '../../../harness/temporary-directory.ts'

const TABLES = [
  ...['VerificationToken', 'DeprecatedVerificationToken', 'TeamTable', 'TeamMembership', 'ModelTable', 'UserTable'],
  ...['BudgetTable', 'OrganizationTable', 'EndUserTable', 'TagTable', 'ProjectTable', 'ProxyModelTable', 'Config'],
]
const hashOf = (key: string) => Bun.SHA256.hash(key, 'hex')
const keyRow = (key: string, columns: JsonObject = {}): JsonObject => ({
  token: hashOf(key),
  key_name: `sk-...${key}`,
  ...columns,
})

const vendor = (name: string, columns: Partial<Vendor> = {}): Vendor =>
  ({
    ...{ name, source: 'seed', base_url: `https://${name}.example/v1`, key_location: 'bearer', model_names: null },
    ...{ price_sources: [], ...columns },
  }) as unknown as Vendor
const VENDORS = [vendor('openai'), vendor('groq'), vendor('vllm', { base_url: null, key_location: 'none' })]

function plan(written: Partial<LiteLlmConfig>, tables: Partial<LiteLlmDatabase> = {}, environment = {}) {
  const report = new ImportReport()
  const config = { ...EMPTY_CONFIG, ...written }
  const models = planModels(config, { vendors: VENDORS, environment, priced: new Set(), report })
  const settings = planSettings(config, models, report)
  const database = { ...Object.fromEntries(TABLES.map(name => [name, []])), ...tables } as LiteLlmDatabase
  const accounts = planAccounts(database, { models, settings, defaultProject: 'personal', report })
  return { models, settings, report, ...accounts }
}
const planRows = (tables: Partial<LiteLlmDatabase>) => plan({}, tables)
const deployment = (name: string, params: JsonObject) => ({ name, params, info: {} })

test.each([
  [null, { per: 'total', factor: 1 }],
  ['30d', { per: 'month', factor: 1 }],
  ['1mo', { per: 'month', factor: 1 }],
  ['24h', { per: 'day', factor: 1 }],
  ['7d', { per: 'week', factor: 1 }],
  ['1w', { per: 'week', factor: 1 }],
  ['86400s', { per: 'day', factor: 1 }],
  ['12h', { per: 'day', factor: 2 }],
  ['14d', { per: 'week', factor: 0.5 }],
  ['60d', { per: 'month', factor: 0.5 }],
  ['0d', null],
  ['1.5d', null],
  ['monthly', null],
])('converts the budget duration %s', (duration, converted) => {
  expect(convertDuration(duration)).toEqual(converted)
})

test('a budget of unknown duration does not begin again, and amounts stay within a column', () => {
  const { budgets, report } = planRows({
    VerificationToken: [
      keyRow('a', { max_budget: 5, budget_duration: 'fortnight', spend: 2 }),
      keyRow('b', { max_budget: 1e300, budget_duration: '1d', spend: 1e300 }),
      keyRow('c', { max_budget: -3, spend: 'NaN' }),
      keyRow('d', { max_budget: 'Infinity' }),
      keyRow('e', { max_budget: null, spend: 3 }),
    ],
  })
  expect(budgets.map(({ per, amount, spent }) => ({ per, amount, spent }))).toEqual([
    { per: 'total', amount: 5, spent: 2 },
    { per: 'day', amount: 999_999_999, spent: 999_999_999 },
    { per: 'total', amount: 0, spent: 0 },
  ])
  expect(report.lines.find(({ kind }) => kind === 'budget')?.note).toContain('fortnight is not known')
})

test('a key has the budget and limits of its shared budget, and the lowest of all limits', () => {
  const { keys, budgets } = planRows({
    BudgetTable: [
      { budget_id: 'small', max_budget: 9, budget_duration: '7d', rpm_limit: 50, model_max_budget: { fast: 4 } },
      { budget_id: 'member', max_budget: null, tpm_limit: 700 },
    ],
    TeamTable: [{ team_id: 't', team_alias: 'Team', rpm_limit: 40, tpm_limit: 9000 }],
    TeamMembership: [{ team_id: 't', user_id: 'u', budget_id: 'member', spend: 0 }],
    UserTable: [{ user_id: 'u', user_email: null, rpm_limit: 30 }],
    VerificationToken: [
      keyRow('a', { budget_id: 'small', model_max_budget: {}, spend: 1 }),
      keyRow('b', { team_id: 't', user_id: 'u', rpm_limit: 100 }),
      keyRow('c', { rpm_limit: 0, tpm_limit: 1e18 }),
    ],
  })
  expect(keys.map(key => [key.requests_per_minute, key.tokens_per_minute])).toEqual([
    [50, null],
    [30, 700],
    [1, 999_999_999],
  ])
  expect(budgets).toMatchObject([
    { per: 'week', amount: 9, spent: 1 },
    { model: 'fast', per: 'total', amount: 4 },
  ])
})

test('no list of models becomes wider', () => {
  const { keys, projects } = planRows({
    TeamTable: [
      { team_id: 'empty', team_alias: 'Empty', models: ['with space'] },
      { team_id: 'all', team_alias: 'All', models: [] },
    ],
    UserTable: [{ user_id: 'u', models: ['fast', 'openai/*'] }],
    VerificationToken: [
      keyRow('a', { user_id: 'u', models: ['fast', 'smart', 'openai/gpt-4o'] }),
      keyRow('b', { user_id: 'u', models: [] }),
      keyRow('c', { user_id: 'u', team_id: 'all', models: ['smart'] }),
      keyRow('d', { models: ['with space'] }),
    ],
  })
  expect(keys.map(({ allowed_models }) => allowed_models)).toEqual([
    ['fast', 'openai/gpt-4o'],
    ['fast', 'openai/*'],
    ['smart'],
    [],
  ])
  expect(projects[0]?.settings.allowed_models).toEqual(['no-models'])
})

test('names keys and projects with any characters, and each of them once', () => {
  const long = `${'a'.repeat(99)}😀😀`
  const { keys, projects } = planRows({
    TeamTable: [
      { team_id: 'id-1', team_alias: '検索' },
      { team_id: 'id-2', team_alias: 'Über Größe' },
      { team_id: '検', team_alias: '--' },
      { team_id: 'id-4', team_alias: 'Uber Große' },
    ],
    VerificationToken: [
      keyRow('a', { team_id: 'id-1', key_alias: long }),
      keyRow('b', { team_id: 'id-1', key_alias: 'one\u2028two' }),
      keyRow('c', { team_id: 'id-1', key_alias: 'one two' }),
      keyRow('d', { team_id: 'gone', key_alias: '' }),
    ],
  })
  expect(projects.map(({ name }) => name)).toEqual(['id-1', 'Uber-Gro-e', 'team', 'Uber-Gro-e-2', 'personal'])
  expect(keys.map(({ name }) => name)).toEqual([
    `${'a'.repeat(99)}😀`,
    'one two',
    `one two (${hashOf('c').slice(0, 8)})`,
    'sk-...d',
  ])
  for (const { name } of keys) expect(name.isWellFormed()).toBe(true)
})

test('reads JSON that a column holds as text, and ignores what is none', () => {
  const { projects, budgets } = plan(
    { models: [deployment('fast', { model: 'openai/gpt-4o-mini' })] },
    {
      ModelTable: [{ id: 1, aliases: '{"best": "fast", "not a name": "fast", "lost": "absent"}' }],
      TeamTable: [
        {
          ...{ team_id: 't', team_alias: 'T', model_id: 1, model_max_budget: '{"fast": {"max_budget": "3"}}' },
          ...{ members_with_roles: '[{"role": "admin", "user_email": "A@b.example"}]', metadata: '{broken' },
        },
      ],
    },
  )
  expect(projects[0]?.settings.aliases).toEqual(['fast=openai/gpt-4o-mini', 'best=openai/gpt-4o-mini'])
  expect(projects[0]?.members).toEqual([{ email: 'A@b.example', role: 'owner' }])
  expect(budgets).toMatchObject([{ model: 'openai/gpt-4o-mini', amount: 3 }])
})

test('reports models that a list cannot contain, and addresses that are none', () => {
  const { models, report } = plan({
    models: [
      deployment('my model', { model: 'openai/gpt-4o' }),
      deployment('house', { model: 'hosted_vllm/qwen', api_base: 'llm.internal:8000' }),
      deployment('lost', { model: 'hosted_vllm/qwen', api_base: 'os.environ/LOST' }),
      deployment('openai/*', { model: 'openai/*' }),
    ],
    sections: { ...EMPTY_CONFIG.sections, router_settings: { model_group_alias: { 'a b': 'openai/*', b: 'absent' } } },
  })
  expect(models.names).toEqual(['house', 'lost', 'openai/*'])
  expect(models.vendors.map(({ name }) => name)).toEqual(['openai'])
  expect(report.omitted.map(({ setting }) => setting).filter(name => name.startsWith('model'))).toEqual([
    'model my model',
    'model house',
    'model lost',
    'model_group_alias a b',
    'model_group_alias b',
  ])
})

test('resolves variables of the environment and of config.yaml, and the vendor’s own', () => {
  const { models } = plan(
    {
      environment: { IN_FILE: 'https://llm.example.org/v1/' },
      models: [
        deployment('a', { model: 'os.environ/MODEL', api_key: 'os.environ/KEY' }),
        deployment('b', { model: 'hosted_vllm/qwen', api_base: 'os.environ/IN_FILE' }),
        deployment('c', { model: 'groq/llama' }),
        deployment('d', { model: 'openai/gpt-4o', api_key: 'os.environ/WRONG' }),
        deployment('e', { model: 'openai/gpt-4o', api_key: 'os.environ/EMPTY' }),
      ],
    },
    {},
    { MODEL: 'openai/gpt-4o', KEY: 'secret-1', GROQ_API_KEY: 'secret-2', WRONG: 'sk-…', EMPTY: '' },
  )
  expect(models.vendors.map(({ name, key, columns }) => [name, key, columns.base_url])).toEqual([
    ['openai', 'secret-1', undefined],
    ['vllm', null, 'https://llm.example.org/v1'],
    ['groq', 'secret-2', undefined],
    ['openai-2', null, 'https://openai.example/v1'],
    ['openai-3', null, 'https://openai.example/v1'],
  ])
})

test('limits settings to what a project accepts', () => {
  const { settings } = plan({
    sections: {
      ...EMPTY_CONFIG.sections,
      litellm_settings: { cache: true, cache_params: { type: 'redis-semantic', ttl: 1e12, similarity_threshold: 7 } },
      router_settings: { timeout: 1e9, default_fallbacks: ['fast', 'a b'] },
    },
  })
  expect(settings).toMatchObject({
    ...{ cache_ttl_seconds: 315_360_000, semantic_threshold: 1, semantic_mode: 'on' },
    ...{ response_timeout_ms: ['3600000'], fallbacks: ['fast'] },
  })
})

test('reads anchors and included files, and rejects a file that includes itself', async () => {
  const folder = createTemporaryDirectory()
  const write = (name: string, text: string) => writeFile(join(folder, name), text)
  await write(
    'config.yaml',
    `include: [models.yaml]
shared: &shared { api_key: os.environ/KEY, timeout: 5 }
model_list: [{ model_name: a, litellm_params: { <<: *shared, model: openai/a } }]
environment_variables: { PORT: 4000 }
general_settings:`,
  )
  await write(
    'models.yaml',
    `model_list: [{ model_name: b, litellm_params: { model: openai/b } }]
litellm_settings: { cache: true }`,
  )
  const config = await readLiteLlmConfig(join(folder, 'config.yaml'))
  expect(config.models.map(({ name, params }) => [name, params.timeout])).toEqual([
    ['a', 5],
    ['b', undefined],
  ])
  expect(config.sections).toMatchObject({ litellm_settings: { cache: true }, general_settings: {} })
  expect(config.environment).toEqual({ PORT: '4000' })
  await write('loop.yaml', 'include: loop.yaml')
  await expect(readLiteLlmConfig(join(folder, 'loop.yaml'))).rejects.toThrow('includes itself')
})
