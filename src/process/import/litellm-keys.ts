/** Plans LiteLLM's keys: their hashes, limits and models. Reports settings of keys and teams that have no counterpart, with the reasons. */

import { formatCommand } from '../../config/operator-command.ts'
import { isJsonObject, type JsonObject } from '../../formats/json/canonical.ts'
import { matchesAnyModelPattern } from '../../providers/model-patterns.ts'
import { lowestLimit, NO_TEAM, nameKey, type PlannedKey, shorten } from './accounts.ts'
import { toUtc } from './budgets.ts'
import type { LiteLlmDatabase } from './litellm-source.ts'
import type { ModelPlan } from './models.ts'
import type { ImportReport } from './report.ts'
import { asList, asObject, asText } from './source.ts'
import { isModelName } from './vendors.ts'

/** The team of the keys that LiteLLM's own pages create for each login. */
export const DASHBOARD_TEAM = 'litellm-dashboard'
/** Values in lists of models that stand for all of them. */
const ALL_MODELS = new Set(['all-team-models', 'all-proxy-models', '*'])
/** Rows that others refer to, by their ids. */
export interface Rows {
  tokens: readonly JsonObject[]
  teams: ReadonlyMap<string | null, JsonObject>
  users: ReadonlyMap<string | null, JsonObject>
  /** Budgets and limits that several objects share. */
  shared: ReadonlyMap<string | null, JsonObject>
  aliases: ReadonlyMap<unknown, JsonObject>
  /** The shared budgets of members, by team and user. */
  members: ReadonlyMap<string, JsonObject | undefined>
}

export const memberName = (team: unknown, user: unknown) => JSON.stringify([team, user])

export function indexRows(database: LiteLlmDatabase): Rows {
  const shared = new Map(database.BudgetTable.map(row => [asText(row.budget_id), row]))
  return {
    tokens: database.VerificationToken.filter(row => row.team_id !== DASHBOARD_TEAM),
    teams: new Map(database.TeamTable.map(row => [asText(row.team_id), row])),
    users: new Map(database.UserTable.map(row => [asText(row.user_id), row])),
    shared,
    aliases: new Map(database.ModelTable.map(row => [row.id, row])),
    members: new Map(
      database.TeamMembership.map(row => [memberName(row.team_id, row.user_id), shared.get(asText(row.budget_id))]),
    ),
  }
}

const hashOf = (token: unknown) => {
  const text = asText(token) ?? ''
  // Old versions of LiteLLM stored some keys as they are.
  return /^[0-9a-f]{64}$/.test(text) ? text : Bun.SHA256.hash(text, 'hex')
}

export function planKey(row: JsonObject, { teams, users, shared, members }: Rows, models: ModelPlan): PlannedKey {
  const hash = hashOf(row.token)
  const shown = nameKey(asText(row.key_name) ?? `litellm-${hash.slice(0, 8)}`)
  const [expires, created] = [asText(row.expires), asText(row.created_at)]
  const team = teams.get(asText(row.team_id))
  const user = users.get(asText(row.user_id))
  // The lowest of all limits applies: they are not shared here.
  const limited = [
    row,
    shared.get(asText(row.budget_id)),
    team,
    members.get(memberName(row.team_id, row.user_id)),
    user,
  ]
  const ownModels = allowedModels(asList(row.models), models)
  return {
    hash,
    former_of: null,
    project: team ? String(team.team_id) : NO_TEAM,
    name: nameKey(asText(row.key_alias) ?? shown),
    prefix: shorten(shown, 20),
    created_at: created && toUtc(created),
    expires_at: expires && toUtc(expires),
    blocked: row.blocked === true || team?.blocked === true,
    requests_per_minute: lowestLimit(limited.map(each => each?.rpm_limit)),
    tokens_per_minute: lowestLimit(limited.map(each => each?.tpm_limit)),
    allowed_models: team ? ownModels : narrow(ownModels, allowedModels(asList(user?.models), models)),
  }
}

/** Returns the names of a list, with access groups replaced by their members; null if it allows all. */
export function allowedModels(list: readonly unknown[], { groups }: ModelPlan): string[] | null {
  const names = list.map(String)
  if (names.length === 0 || names.some(name => ALL_MODELS.has(name))) return null
  return [...new Set(names.flatMap(name => groups.get(name) ?? [name]))].filter(isModelName)
}

/** Returns the names that both lists allow; null if both allow all. */
function narrow(list: string[] | null, within: string[] | null): string[] | null {
  if (list === null || within === null) return list ?? within
  return list.filter(name => matchesAnyModelPattern(name, within))
}

/** Values of rotated keys that are still accepted. */
export function planFormerKeys(
  { DeprecatedVerificationToken: rows }: LiteLlmDatabase,
  keys: readonly PlannedKey[],
): PlannedKey[] {
  const byHash = new Map(keys.map(key => [key.hash, key]))
  return rows.flatMap(({ token, active_token_id, revoke_at }) => {
    const key = byHash.get(hashOf(active_token_id))
    const revoked = asText(revoke_at)
    const hash = hashOf(token)
    if (!key || !revoked || byHash.has(hash)) return []
    return [
      {
        ...key,
        hash,
        former_of: key.hash,
        name: `${shorten(key.name, 85)} (former)`,
        expires_at: toUtc(revoked),
      },
    ]
  })
}

const KEY_COLUMNS: Readonly<Record<string, string>> = {
  soft_budget: 'add a spend alert with its recipients',
  aliases: 'aliases belong to projects',
  config: 'a key has no configuration of its own',
  router_settings: 'settings belong to projects',
  permissions: 'set the project’s settings instead',
  max_parallel_requests: 'concurrency is limited per key, by the plan',
  allowed_cache_controls: 'clients control the cache with Cache-Control',
  allowed_routes: 'keys are accepted at all endpoints',
  policies: 'guardrails are a hook: docs/hooks.md',
  access_group_ids: 'list the models in allowed_models',
  object_permission_id: 'MCP servers and vector stores are not proxied',
  auto_rotate: 'rotate keys by the API: docs/admin.md',
}
const KEY_METADATA: Readonly<Record<string, string>> = {
  tags: 'a key adds no tags: clients send X-Proxy-Tags',
  model_rpm_limit: 'limits per minute apply to all models of a key',
  model_tpm_limit: 'limits per minute apply to all models of a key',
  guardrails: 'guardrails are a hook: docs/hooks.md',
}

const isSet = (value: unknown) =>
  value !== null &&
  value !== undefined &&
  value !== false &&
  !(Array.isArray(value) && value.length === 0) &&
  !(isJsonObject(value) && Object.keys(value).length === 0)

/** Reports the settings of a key that have no counterpart. */
export function reportKeySettings(row: JsonObject, report: ImportReport): void {
  for (const [column, reason] of Object.entries(KEY_COLUMNS))
    if (isSet(row[column])) report.omit(`key ${column}`, reason)
  for (const [name, value] of Object.entries(asObject(row.metadata)))
    if (isSet(value)) report.omit(`key metadata.${name}`, KEY_METADATA[name] ?? 'keys have no metadata')
}

/** Reports rows of the database that have no counterpart. */
export function reportAccountSettings(database: LiteLlmDatabase, report: ImportReport): void {
  for (const { organization_alias, budget_id } of database.OrganizationTable)
    report.omit(
      `organization ${organization_alias}${budget_id ? ' and its budget' : ''}`,
      'an installation is one organization: teams are projects, which have budgets of their own',
    )
  for (const { budget_id, blocked } of database.EndUserTable)
    if (budget_id || blocked)
      report.omit(
        `customer ${blocked ? 'blocks' : 'budgets'}`,
        'end users are recorded, and have no budgets; give a key to each customer',
      )
  for (const { tag_name } of database.TagTable)
    report.omit(
      `tag ${tag_name}`,
      'tags have names and values: send X-Proxy-Tags: team=search, and set-budget -v tag=team=search',
    )
  for (const { project_alias, project_id } of database.ProjectTable)
    report.omit(`project ${project_alias ?? project_id}`, 'its keys are in the project of their team')
  for (const _ of database.ProxyModelTable)
    report.omit(
      'models in LiteLLM’s database',
      'they are encrypted with LITELLM_SALT_KEY: add them to model_list of config.yaml',
    )
  for (const { user_role, user_email, user_id } of database.UserTable)
    if (user_role === 'proxy_admin')
      report.omit(`administrator ${user_email ?? user_id}`, `${formatCommand('create-admin')} EMAIL --promote`)
  for (const team of database.TeamTable) {
    for (const column of ['soft_budget', 'max_parallel_requests', 'router_settings', 'policies'])
      if (isSet(team[column])) report.omit(`team ${column}`, KEY_COLUMNS[column] ?? 'not supported here')
    for (const name of Object.keys(asObject(team.metadata)))
      report.omit(`team metadata.${name}`, 'projects have no metadata')
  }
}
