/** A made-up company at LiteLLM of any size, beside the one of test/fixtures/litellm, for measurements and tests of large imports. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const SCHEMA = fileURLToPath(new URL('../fixtures/litellm/schema.sql', import.meta.url))

/** The number of keys in each team. */
const KEYS_PER_TEAM = 20

/**
 * Creates LiteLLM's tables in `schema`, with `keys` keys more than those of the fixture. Each team and each second key has a budget, each
 * fourth key a budget of one model, each fifth a member's budget, and each tenth limits per minute.
 */
export async function createCompany(keys: number, schema: string): Promise<string> {
  return `
    create schema ${schema};
    set search_path = ${schema};
    ${await readFile(SCHEMA, 'utf8')}
    insert into "LiteLLM_TeamTable" ("team_id", "team_alias", "max_budget", "budget_duration", "spend", "members_with_roles", "created_at")
    select 'c-' || t, 'Company ' || t, 1000, '30d', t, jsonb_build_array(jsonb_build_object('role', 'user', 'user_id', 'u-' || t)),
      timestamp '2025-03-01' + t * interval '1 minute'
    from generate_series(0, ${Math.ceil(keys / KEYS_PER_TEAM) - 1}) t;
    insert into "LiteLLM_UserTable" ("user_id", "user_email", "user_role")
    select 'u-' || t, 'person-' || t || '@company.example', 'internal_user'
    from generate_series(0, ${Math.ceil(keys / KEYS_PER_TEAM) - 1}) t;
    insert into "LiteLLM_TeamMembership" ("user_id", "team_id", "spend", "budget_id")
    select 'u-' || t, 'c-' || t, 1.5, 'member'
    from generate_series(0, ${Math.ceil(keys / KEYS_PER_TEAM) - 1}) t;
    insert into "LiteLLM_VerificationToken" (
      "token", "key_name", "key_alias", "team_id", "user_id", "max_budget", "budget_duration", "spend", "rpm_limit", "model_max_budget", "created_at"
    )
    select
      encode(sha256(convert_to('sk-company-' || n, 'UTF8')), 'hex'), 'sk-...' || right('000' || n, 4), 'service-' || n,
      'c-' || n / ${KEYS_PER_TEAM}, case when n % 5 = 0 then 'u-' || n / ${KEYS_PER_TEAM} end,
      case when n % 2 = 0 then 50 end, case when n % 2 = 0 then '7d' end, n % 7, case when n % 10 = 0 then 600 end,
      case when n % 4 = 0 then '{"fast": {"max_budget": 3, "budget_duration": "30d"}}' else '{}' end::jsonb,
      timestamp '2025-04-01' + n * interval '1 second'
    from generate_series(0, ${keys - 1}) n;
    analyze;
  `
}
