/** Fills a proxy with data to show: an administrator, projects, keys, members, and a month of usage. */
import { hashPassword } from '../../src/admin/password-hashing.ts'
import { recordUsage } from '../../src/postgres/record-usage.ts'
import type { UsageRecord } from '../../src/postgres/usage-record.ts'
import { ask } from '../harness/client.ts'
import type { TestProxy } from '../harness/proxy.ts'

export const EMAIL = 'admin@localhost'
export const PASSWORD = 'correct horse battery staple'

export async function addAdministrator(proxy: TestProxy): Promise<void> {
  await proxy.query(`select create_user('${EMAIL}', 'owner', '${await hashPassword(PASSWORD)}')`)
}

export interface Seeded {
  /** The project's id as in URLs. */
  project: string
  /** A test key of the project. */
  testKey: string
}

/** The random seed is fixed, so that screenshots differ only in dates. */
export async function seedUsage(proxy: TestProxy): Promise<Seeded> {
  const [made] = await proxy.query<{ id: number }>(`select create_project('acme-support', 'pro') as id`)
  const project = made?.id ?? 0
  await proxy.query(`select create_project('internal-tools', 'free')`)
  await proxy.query(
    `select issue_key('acme-support', 'project', name) from unnest(array['production', 'staging']) as name`,
  )
  const [test] = await proxy.query<{ key: string }>(`select issue_key('acme-support', 'test', 'ci') as key`)
  await proxy.query(`select deactivate_key(issue_key('acme-support', 'project', 'old laptop'))`)
  for (const [email, role] of [
    ['ada@example.org', 'owner'],
    ['grace@example.org', 'member'],
    ['linus@example.org', 'viewer'],
  ]) {
    await proxy.query(`select create_user('${email}', 'reader')`)
    await proxy.query(`select add_member('acme-support', '${email}', '${role}')`)
  }
  await proxy.query(`select store_provider_key(${project}, 'openai', '\\x00', 'x9Kf', 'default', 1)`)
  const records = await proxy.query<UsageRecord>(MONTH_OF_USAGE.replaceAll('$project', String(project)))
  await recordUsage(proxy.stores.database, records, crypto.randomUUID())
  await proxy.query(`select set_budget('acme-support', 'usd', 10, 'month')`)
  await proxy.query(`select set_budget('acme-support', 'usd', 5, 'month', of_tag => 'team=search')`)
  await proxy.query(
    `select record_rejections(
      array['invalid_api_key', 'rate_limit_exceeded', 'api_key_disabled'],
      array['', max(encode(key_hash, 'hex')) filter (where name = 'staging'), max(encode(key_hash, 'hex')) filter (where name = 'old laptop')],
      array[412, 97, 6]
    ) from api_keys where project_id = ${project}`,
  )
  return { project: `proj_${project}`, testKey: test?.key ?? '' }
}

/** Creates semantic hits, near misses and verdicts with requests through the proxy. */
export async function seedMatches(proxy: TestProxy, { project, testKey }: Seeded): Promise<void> {
  for (const [setting, value] of [
    ['log_content', 'sealed'],
    ['semantic_threshold', '0.6'],
  ]) {
    await proxy.query(`select set_setting('acme-support', '${setting}', '${value}')`)
  }
  // Sequential, because the list shows them in this order.
  for (const words of ASKED) {
    await ask(proxy, testKey, words, { 'x-proxy-cache-ttl': STORED.includes(words) ? '600' : '0' })
    await proxy.settle()
  }
  const webhook = `add_webhook(find_project_name(${project.slice(5)}), 'https://hooks.example.org/model-proxy', '{}', '')`
  await proxy.query(`select send_test_event(find_project_name(${project.slice(5)}), ${webhook})`)
  await proxy.query(
    `update semantic_hits set saved_usd = 0.0004 * prompt_tokens where project_id = ${project.slice(5)}`,
  )
  await proxy.query(
    `select record_feedback(h.project_id, h.request_id, case h.reason when 'undecided' then 'wrong' else 'right' end)
    from (select distinct on (reason) * from semantic_hits where project_id = ${project.slice(5)} order by reason, served_at) h`,
  )
}

const STORED = [
  'How do I reset my password?',
  'What is the refund policy for annual plans?',
  'Which countries do you ship to?',
  'Does the API support streaming responses?',
]
const ASKED = [
  ...STORED,
  'Does the API support streaming requests?',
  'How do I reset my PIN?',
  'What is the refund policy for monthly plans?',
  'Which countries do you not ship to?',
  'could you tell me which countries do you ship to',
  "What's the refund policy for annual plans",
  'Could you please tell me how to reset my password?',
  'How do I reset my old password?',
  'Which European countries do you ship to?',
  'What is the new refund policy for annual plans?',
  'Does the public API support streaming responses?',
]

const MONTH_OF_USAGE = `
with drawn as (
    select
        now() - power(random(), 2) * interval '29 days' as at,
        random() as result,
        random() as size,
        random() as kind,
        n
    from setseed(0.42), generate_series(1, 9000) n
),
described as (
    select
        d.*,
        case when result < 0.42 then 'HIT' when result < 0.55 then 'HIT-SEMANTIC' else 'MISS' end as cache,
        case when kind < 0.5 then 'gpt-4o-mini' when kind < 0.75 then 'anthropic/claude-haiku-4.5' when kind < 0.9 then 'llama-3.3-70b-versatile' else 'gpt-4.1' end as model,
        case when kind < 0.5 then 'openai' when kind < 0.75 then 'openrouter' when kind < 0.9 then 'groq' else 'openai' end as provider,
        (select k.id from api_keys k where k.project_id = $project and k.name = case when size < 0.7 then 'production' when size < 0.9 then 'staging' else 'ci' end) as key_id
    from drawn d
)
select
    to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as recorded_at,
    'req_' || md5(n::text) as request_id,
    $project as project_id,
    key_id::integer,
    case when size > 0.93 then 'embeddings' else 'chat' end as endpoint,
    model,
    provider,
    cache as cache_result,
    case when size < 0.015 then 502 when size < 0.03 then 429 else 200 end as status,
    case when size < 0.015 then 'upstream_error' when size < 0.03 then 'rate_limit_exceeded' end as error_code,
    case when size < 0.015 then 2 end as attempts,
    case when size < 0.015 then 503 end as upstream_status,
    case when size < 0.015 then 'Overloaded' end as upstream_message,
    case when n % 25 = 0 then 'ada' when n % 25 < 4 then 'grace' when n % 25 < 6 then 'linus' end as end_user,
    case when n % 12 = 5 then 'ticket-' || (n / 300)::text end as session,
    size < 0.5 as streamed,
    case when cache = 'MISS' then (200 + size * 900)::integer else 0 end as prompt_tokens,
    0 as cached_prompt_tokens,
    case when cache = 'MISS' then (100 + size * 600)::integer else 0 end as completion_tokens,
    case when cache = 'MISS' then 0 else (200 + size * 900)::integer end as tokens_saved,
    case when cache = 'MISS' then size * 0.004 else 0 end as cost_usd,
    case when cache = 'MISS' and kind > 0.98 then 'client_left' end as cost_estimated,
    case when cache = 'MISS' then 0 else size * 0.004 end as saved_usd,
    case cache when 'HIT' then 1 + size * 4 when 'HIT-SEMANTIC' then 3 + size * 9 else 300 + size * size * 2500 end as latency_ms,
    0.4 + size as admission_ms,
    case when size > 0.03 then 0.5 + size end as lookup_ms,
    case when cache = 'MISS' and size > 0.03 then 290 + size * size * 2500 end as upstream_ms,
    case cache when 'HIT' then 2 + size * 5 when 'HIT-SEMANTIC' then 4 + size * 11 else 900 + size * 5500 end as duration_ms,
    case when n % 10 < 5 then '{"team": "support"}'::jsonb when n % 10 < 8 then '{"team": "search"}'::jsonb end as tags
from described`
