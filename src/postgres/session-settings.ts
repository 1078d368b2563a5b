/**
 * Settings of a session that change what the driver reads or what SQL means. A role or a database may have any of them, so each session
 * states its own. Behind a pooler that takes none, and for those that only a superuser may set, the start checks what a session has.
 */

/** As `current_setting()` returns them; sent as parameters of the startup message. */
const STATED: Readonly<Record<string, string>> = {
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
  // Functions set limits of their own, and each statement has a time limit.
  lock_timeout: '0',
  idle_session_timeout: '0',
  idle_in_transaction_session_timeout: '1min',
}

/** Those that PgBouncer passes on in any version, because it changes them with each client. */
const POOLED = ['DateStyle', 'TimeZone', 'standard_conforming_strings']

/** Parameters of the startup message. */
export function buildStartupParameters(statementTimeLimitMs: number, isPooled: boolean): Record<string, string> {
  if (isPooled) return Object.fromEntries(POOLED.map(name => [name, STATED[name] ?? '']))
  return { ...STATED, statement_timeout: String(statementTimeLimitMs) }
}

interface Requirement {
  /** Values that do as well as the one that is stated. */
  accepts?: RegExp
  /** What is set where it is wrong. */
  value: string
}

const ANY_TIME = /^\d+(ms|s|min|h|d)?$/
/** A statement of the proxy's may take this long, on a busy server. */
const TOO_SHORT = /^([1-4]s|\d{1,4}ms)$/

/** Of the class, all that can be wrong for a session of the proxy. Unknown ones do not exist in the server's version. */
const REQUIRED: Readonly<Record<string, Requirement>> = {
  ...Object.fromEntries(Object.entries(STATED).map(([name, value]) => [name, { value }])),
  // As the driver sends them, any order of day and month is the same.
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

/** `values`: of CHECKED_SETTINGS, as a session has them; null where the server has no such setting. */
export function findSettingMismatches(values: Readonly<Record<string, string | null>>): SettingMismatch[] {
  return Object.entries(REQUIRED).flatMap(([name, { value: required, accepts }]) => {
    const value = values[name]
    if (value == null || value === required) return []
    if (accepts?.test(value) && !(accepts === ANY_TIME && TOO_SHORT.test(value))) return []
    return [{ name, value, required }]
  })
}
