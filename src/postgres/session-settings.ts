/**
 * Session settings that change what the driver reads or what SQL means. Roles and databases may set any of them, so each session sends its
 * own values. The start checks the settings that cannot be sent: all of them behind some poolers, and those that only a superuser may set.
 */

/** The settings that are sent as startup parameters, in the form that `current_setting()` returns. */
const SENT_SETTINGS: Readonly<Record<string, string>> = {
  DateStyle: 'ISO, MDY',
  TimeZone: 'UTC',
  standard_conforming_strings: 'on',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  array_nulls: 'on',
  transform_null_equals: 'off',
  row_security: 'on',
  gin_fuzzy_search_limit: '0',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  // Functions set their own limits, and each statement has a timeout.
  lock_timeout: '0',
  idle_session_timeout: '0',
  idle_in_transaction_session_timeout: '1min',
}

/** The settings that all versions of PgBouncer forward, because it tracks them for each client. */
const POOLER_SETTINGS = ['DateStyle', 'TimeZone', 'standard_conforming_strings']

/** Returns the parameters of the startup message. */
export function buildStartupParameters(statementTimeLimitMs: number, isPooled: boolean): Record<string, string> {
  if (isPooled) return Object.fromEntries(POOLER_SETTINGS.map(name => [name, SENT_SETTINGS[name] ?? '']))
  return { ...SENT_SETTINGS, statement_timeout: String(statementTimeLimitMs) }
}

interface Requirement {
  /** Matches other acceptable values. */
  accepts?: RegExp
  /** The required value. */
  value: string
}

const ANY_TIME = /^\d+(ms|s|min|h|d)?$/
/** Matches timeouts that are shorter than a statement of the proxy may take on a busy server. */
const TOO_SHORT = /^([1-4]s|\d{1,4}ms)$/

/** All settings that can break a session of the proxy. Those that the server's version does not have are skipped. */
const REQUIRED: Readonly<Record<string, Requirement>> = {
  ...Object.fromEntries(Object.entries(SENT_SETTINGS).map(([name, value]) => [name, { value }])),
  // The driver sends ISO dates, so the order of day and month does not matter.
  DateStyle: { value: 'ISO, MDY', accepts: /^ISO, / },
  TimeZone: { value: 'UTC', accepts: /^(Etc\/)?(UTC|GMT|UCT|Universal|Zulu|Greenwich)$/i },
  extra_float_digits: { value: '1', accepts: /^[123]$/ },
  idle_in_transaction_session_timeout: { value: '1min', accepts: ANY_TIME },
  idle_session_timeout: { value: '0', accepts: ANY_TIME },
  statement_timeout: { value: '10s', accepts: ANY_TIME },
  client_encoding: { value: 'UTF8' },
  transaction_timeout: { value: '0', accepts: ANY_TIME },
  session_replication_role: { value: 'origin', accepts: /^local$/ },
  restrict_nonsystem_relation_kind: { value: '', accepts: /^$/ },
  exit_on_error: { value: 'off' },
  default_transaction_read_only: { value: 'off' },
  'plpgsql.variable_conflict': { value: 'error' },
  'plpgsql.extra_errors': { value: 'none' },
}

export const REQUIRED_SETTINGS: readonly string[] = Object.keys(REQUIRED)

export interface SettingMismatch {
  name: string
  value: string
  required: string
}

/** Compares a session's values of REQUIRED_SETTINGS with the required ones. A value is null if the server has no such setting. */
export function findSettingMismatches(values: Readonly<Record<string, string | null>>): SettingMismatch[] {
  return Object.entries(REQUIRED).flatMap(([name, { value: required, accepts }]) => {
    const value = values[name]
    if (value == null || value === required) return []
    if (accepts?.test(value) && !(accepts === ANY_TIME && TOO_SHORT.test(value))) return []
    return [{ name, value, required }]
  })
}
