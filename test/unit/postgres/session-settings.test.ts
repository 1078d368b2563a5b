import { expect, test } from 'vitest'
import {
  buildStartupParameters,
  findSettingMismatches,
  REQUIRED_SETTINGS,
} from '../../../src/postgres/session-settings.ts'

const right = { ...buildStartupParameters(10_000, false), statement_timeout: '10s', client_encoding: 'UTF8' }

test('a session states what is required of it', () => {
  expect(findSettingMismatches(right)).toEqual([])
  for (const name of Object.keys(right)) expect(REQUIRED_SETTINGS).toContain(name)
})

test.each([
  ['DateStyle', 'German, DMY'],
  ['DateStyle', 'SQL, MDY'],
  ['IntervalStyle', 'iso_8601'],
  ['TimeZone', 'Europe/Berlin'],
  ['bytea_output', 'escape'],
  ['extra_float_digits', '0'],
  ['array_nulls', 'off'],
  ['row_security', 'off'],
  ['client_encoding', 'LATIN1'],
  ['lock_timeout', '10ms'],
  ['statement_timeout', '1s'],
  ['statement_timeout', '100ms'],
  ['transaction_timeout', '2s'],
  ['idle_in_transaction_session_timeout', '500ms'],
  ['session_replication_role', 'replica'],
  ['default_transaction_isolation', 'serializable'],
  ['default_transaction_read_only', 'on'],
  ['plpgsql.variable_conflict', 'use_column'],
])('rejects %s = %s', (name, value) => {
  expect(findSettingMismatches({ ...right, [name]: value })).toMatchObject([{ name, value }])
})

test.each([
  ['DateStyle', 'ISO, DMY'],
  ['TimeZone', 'Etc/UTC'],
  ['extra_float_digits', '3'],
  ['statement_timeout', '0'],
  ['statement_timeout', '5s'],
  ['statement_timeout', '2min'],
  ['transaction_timeout', '0'],
  ['idle_session_timeout', '10min'],
  ['session_replication_role', 'local'],
])('accepts %s = %s', (name, value) => {
  expect(findSettingMismatches({ ...right, [name]: value })).toEqual([])
})

test('ignores a setting that the server does not have', () => {
  expect(findSettingMismatches({ ...right, transaction_timeout: null })).toEqual([])
})
