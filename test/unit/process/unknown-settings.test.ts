import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findMisspeltSettings, parseSettingNames } from '../../../src/process/misspelt-settings.ts'

const SETTINGS = parseSettingNames(readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8'))
const nearestOf = (variable: string, others: Record<string, string> = {}) =>
  findMisspeltSettings({ ...others, [variable]: 'sk-secret' }, SETTINGS).map(
    ({ similarSettings }) => similarSettings[0],
  )

test('knows all settings, set or only shown', () => {
  expect(SETTINGS).toEqual(expect.arrayContaining(['PORT', 'AGGREGATOR_API_KEY', 'OIDC_ISSUER', 'DATABASE_URL']))
  const all = Object.fromEntries(SETTINGS.flatMap(name => [name, `${name}_FILE`]).map(name => [name, 'x']))
  expect(findMisspeltSettings(all, SETTINGS)).toEqual([])
})

test.each([
  ['AGGREGATOR_API_KEYS', 'AGGREGATOR_API_KEY'],
  ['AGREGATOR_API_KEY', 'AGGREGATOR_API_KEY'],
  ['AGGREGATOR_APIKEY', 'AGGREGATOR_API_KEY'],
  ['AGGREGATOR_KEY', 'AGGREGATOR_API_KEY'],
  ['AGGREGATOR_URL', 'AGGREGATOR_BASE_URL'],
  ['aggregator_api_key', 'AGGREGATOR_API_KEY'],
  ['AGGREGATOR_API_KEYS_FILE', 'AGGREGATOR_API_KEY_FILE'],
  ['EMBEDDING_API_KEY', 'EMBEDDINGS_API_KEY'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['REDIS_URLS', 'REDIS_URL'],
  ['ENCRYPTION_KEYS', 'ENCRYPTION_KEY'],
  ['WORKER', 'WORKERS'],
  ['UPSTREAM_MAX_RETRY', 'UPSTREAM_MAX_RETRIES'],
  ['LOGLEVEL', 'LOG_LEVEL'],
  ['TRUST_PROXIES', undefined],
])('%s resembles %s', (variable, setting) => {
  expect(nearestOf(variable)[0]).toBe(setting)
})

test.each([
  ...[
    'PATH',
    'HOME',
    'HOSTNAME',
    'PWD',
    'OPENAI_API_KEY',
    'ANTHROPIC_API_KEY',
    'GROQ_API_KEY',
    'DATABASE_USER',
    'DATABASE_HOST',
  ],
  ...[
    'REDIS_HOST',
    'REDIS_PORT',
    'REDIS_PASSWORD',
    'PGPASSFILE',
    'OTEL_SERVICE_VERSION',
    'OTEL_METRICS_EXPORTER',
    'NODE_ENV',
  ],
  ...[
    'LOGNAME',
    'POSTGRES_PASSWORD',
    'KUBERNETES_SERVICE_PORT',
    'XDG_DATA_DIRS',
    'UPSTREAM_HOST',
    'LS_COLORS',
    '_',
    '',
  ],
])('ignores %s, which belongs to other programs', variable => {
  expect(nearestOf(variable)).toEqual([])
})

test('ignores a name whose similar setting is already set', () => {
  expect(nearestOf('AGGREGATOR_API_KEYS', { AGGREGATOR_API_KEY: 'k' })).toEqual([])
  expect(nearestOf('AGGREGATOR_API_KEYS', { AGGREGATOR_API_KEY_FILE: '/k' })).toEqual([])
})

test('repeats no value', () => {
  expect(JSON.stringify(findMisspeltSettings({ AGGREGATOR_API_KEYS: 'sk-secret' }, SETTINGS))).not.toContain('secret')
})
