/**
 * The admin API rejects every value that the tables would reject: each check constraint of PostgreSQL is tested with a value from a caller
 * that gets a 400, or is listed here as one that no caller's value reaches.
 */
import { beforeAll, expect, test } from 'vitest'
import { describeOnce } from '../../harness/backends.ts'
import { TEST_ENCRYPTION_KEY } from '../../harness/direct-upstreams.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { addUser, issueAdminKey, send } from './people.ts'

/** Tables that never contain values from callers of the admin API: those of requests and caches, and the operator's catalogue. */
const NOT_WRITTEN = [
  ...['cache_entries', 'cache_prompts', 'cache_sizes', 'cached_vectors', 'embedding_spaces'],
  ...[
    'installation',
    'judge_queue',
    'stored_objects',
    'stored_responses',
    'stored_turns',
    'monthly_counters',
    'semantic_hits',
  ],
  ...['model_prices', 'model_unit_prices', 'models', 'vendors'],
]
const SUMS = /^(usage|latency)_/

/** Columns whose values the proxy generates, or that operators set with psql. */
const MADE_HERE = [
  ...[
    'admin_keys.key_hash',
    'api_keys.key_hash',
    'api_keys.imported_hash',
    'invitations.purpose',
    'invitations.token_hash',
    'sessions.token_hash',
  ],
  ...['audit_log.actor_kind', 'events.kind', 'api_keys.log_content'],
  ...[
    'cache_contexts.instructions_hash',
    'cache_verdicts.context_hash',
    'cache_verdicts.one_hash',
    'cache_verdicts.one_hash, other_hash',
  ],
  ...['cache_verdicts.other_hash', 'cache_verdicts.source'],
  ...['idempotent_requests.key_hash', 'idempotent_requests.request_hash'],
  // A plan is named in the path, where an unknown name is a 404.
  ...['plans.name'],
  // The URL decides on the format.
  ...['webhooks.format, url'],
  ...['plans.concurrent_requests', 'plans.max_cache_ttl_seconds'],
]

/**
 * Invalid values for a column, and the body that sends one. Each is a 400; for each constraint of the column, at least one value violates
 * it.
 */
type Case = [column: string, path: string, values: readonly unknown[], body: (value: unknown) => object]

interface Constraint {
  table: string
  columns: string
  type: string
  expression: string
}

const UNPRINTABLE = ['', 'a\nb', 'a\u0085b', 'a\u007fb', 'x'.repeat(101)]
const NO_NAME = ['', '-a', 'a b', 'ä', 'x'.repeat(64), 'a\n']
const NO_EMAIL = ['', 'nobody', 'a b@example.org', 'a@b@c', 'a\u0085@example.org', `${'x'.repeat(65)}@example.org`]
const NO_ROLE = ['god', '', 'Owner']
const NO_LIMIT = [0, -1, 0.5, 1e10]
const PLAN_LIMITS = [
  ...['requests_per_minute_per_key', 'requests_per_minute_per_address', 'tokens_per_minute_per_key'],
  ...['requests_per_month', 'test_requests_per_minute', 'test_requests_per_month'],
]

function casesOf(project: string, key: string, user: string): Case[] {
  const all = '/v1/organization'
  const own = `${all}/projects/${project}`
  const budget = { unit: 'usd', amount: 1, per: 'month' }
  const secret = 'gsk_something_long'
  const alert = {
    currency: 'USD',
    interval: 'month',
    notification_channel: { type: 'email', recipients: ['ops@example.org'] },
  }
  const cases: Case[] = [
    ['admin_keys.name', `${all}/admin_api_keys`, UNPRINTABLE, name => ({ name })],
    ['admin_keys.permissions', `${all}/admin_api_keys`, ['none', ''], permissions => ({ name: 'k', permissions })],
    ['api_keys.name', `${own}/api_keys`, UNPRINTABLE, name => ({ name })],
    ['api_keys.name', `${own}/service_accounts`, UNPRINTABLE, name => ({ name })],
    ['api_keys.type', `${own}/api_keys`, ['live', ''], type => ({ name: 'k', type })],
    ['api_keys.type', '/dashboard/api/playground-key', ['live', ''], type => ({ project_id: project, type })],
    ['api_keys.requests_per_minute', `${own}/api_keys/${key}`, NO_LIMIT, value => ({ requests_per_minute: value })],
    ['api_keys.tokens_per_minute', `${own}/api_keys/${key}`, NO_LIMIT, value => ({ tokens_per_minute: value })],
    ['budgets.amount', `${own}/budgets`, [-1, -1e-10, 1e9], amount => ({ ...budget, amount })],
    ['budgets.per', `${own}/budgets`, ['hour', ''], per => ({ ...budget, per })],
    ['budgets.unit', `${own}/budgets`, ['eur', ''], unit => ({ ...budget, unit })],
    [
      'cache_verdicts.verdict',
      '/v1/cache/verdicts',
      ['perhaps', ''],
      verdict => ({ project_id: project, request_id: 'r', verdict }),
    ],
    ['memberships.role', `${own}/users`, NO_ROLE, role => ({ user_id: user, role })],
    ['memberships.role', `${own}/users`, NO_ROLE, role => ({ email: 'new@example.org', role })],
    ['memberships.role', `${own}/users/${user}`, NO_ROLE, role => ({ role })],
    [
      'memberships.role',
      `${all}/invites`,
      NO_ROLE,
      role => ({ email: 'new@example.org', role: 'reader', projects: [{ id: project, role }] }),
    ],
    ['projects.name', `${all}/projects`, NO_NAME, name => ({ name })],
    ['projects.name', own, NO_NAME, name => ({ name })],
    ['provider_keys.name', `${own}/provider_keys/groq`, NO_NAME, name => ({ value: secret, name })],
    ['provider_keys.weight', `${own}/provider_keys/groq`, [0, -1, 1001, 1.5], weight => ({ value: secret, weight })],
    ['users.email', `${all}/users`, NO_EMAIL, email => ({ email })],
    ['users.email', `${all}/invites`, NO_EMAIL, email => ({ email, role: 'reader' })],
    ['users.email', `${own}/users`, NO_EMAIL, email => ({ email, role: 'viewer' })],
    ['users.role', `${all}/users`, NO_ROLE, role => ({ email: 'new@example.org', role })],
    ['users.role', `${all}/users/${user}`, NO_ROLE, role => ({ role })],
    ['users.role', `${all}/invites`, NO_ROLE, role => ({ email: 'new@example.org', role })],
    [
      'webhooks.url',
      `${own}/webhooks`,
      ['ftp://example.com/', 'https://', 'mailto:nobody', `https://example.com/${'é'.repeat(400)}`],
      url => ({ url }),
    ],
  ]
  for (const limit of PLAN_LIMITS) {
    cases.push([`plans.${limit}`, `${all}/plans/free`, [-1, 0.5, 1e10], value => ({ [limit]: value })])
  }
  for (const of of [all, own]) {
    const month = (threshold_amount: unknown) => ({ currency: 'USD', interval: 'month', threshold_amount })
    cases.push(['budgets.amount', `${of}/spend_limit`, [-1, 0.5, 1e11], month])
    cases.push(['spend_alerts.amount', `${of}/spend_alerts`, [-1, 0.5, 1e11], value => ({ ...alert, ...month(value) })])
  }
  return cases
}

describeOnce('values that the tables reject', backend => {
  const proxy = duringTests(() =>
    startProxy({ dashboard: true, stores: backend.open(), environment: { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY } }),
  )
  let headers: Record<string, string>
  let cases: Case[]
  let constraints: Constraint[]

  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    headers = { authorization: `Bearer ${await issueAdminKey(proxy, 'root@example.org')}` }
    const { json } = await send(proxy, 'POST', '/v1/organization/projects', { headers, body: { name: 'acme' } })
    const own = `/v1/organization/projects/${json.id}`
    const made = await send(proxy, 'POST', `${own}/api_keys`, { headers, body: { name: 'k' } })
    const user = await addUser(proxy, 'somebody@example.org', 'reader')
    cases = casesOf(json.id, made.json.id, `user_${user}`)
    constraints = await proxy.query<Constraint>(`
      select c.conrelid::regclass::text as "table",
        (select string_agg(a.attname, ', ' order by a.attname) from pg_attribute a where a.attrelid = c.conrelid and a.attnum = any (c.conkey)) as columns,
        (select format_type(a.atttypid, a.atttypmod) from pg_attribute a where a.attrelid = c.conrelid and a.attnum = c.conkey[1]) as type,
        pg_get_expr(c.conbin, c.conrelid) as expression
      from pg_constraint c join pg_class r on r.oid = c.conrelid
      where c.connamespace = 'model_proxy'::regnamespace and c.contype = 'c' and not r.relispartition
      order by 1, 2`)
  })

  const nameOf = ({ table, columns }: Constraint) => `${table}.${columns}`
  const isReached = ({ table }: Constraint) => !NOT_WRITTEN.includes(table) && !SUMS.test(table)

  test('each constraint on what the admin API writes has a case that violates it, and each case has a constraint', async () => {
    const reached = constraints.filter(isReached)
    const names = new Set(reached.map(nameOf))
    expect([...names].toSorted()).toEqual([...new Set(cases.map(([column]) => column)), ...MADE_HERE].toSorted())
    const tables = new Set(constraints.map(({ table }) => table))
    expect(NOT_WRITTEN.filter(table => !tables.has(table))).toEqual([])
    for (const constraint of reached) {
      const values = cases.flatMap(([column, , tried]) => (column === nameOf(constraint) ? tried : []))
      if (values.length === 0) continue
      const { columns, type, expression } = constraint
      const [tried] = await proxy.query<{ is_broken: boolean }>(
        `select not bool_and(${expression}) as is_broken from (
          select value::${type === 'text' ? type : 'numeric'} as ${columns} from jsonb_array_elements_text('${JSON.stringify(values)}')
        ) given`,
      )
      expect([constraint, tried?.is_broken]).toEqual([constraint, true])
    }
  })

  test('and each value is a 400 that says what to change', async () => {
    for (const [column, path, values, body] of cases) {
      for (const value of values) {
        const { status, json, text } = await send(proxy, 'POST', path, { headers, body: body(value) })
        const tried = `${path}: ${JSON.stringify(value)} for ${column}`
        expect([tried, status, text]).toEqual([tried, 400, expect.stringMatching(/^(?!.*(constraint|relation))/)])
        expect(json.error).toMatchObject({ type: 'invalid_request_error', message: expect.any(String) })
      }
    }
  })
})
