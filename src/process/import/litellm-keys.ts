/** Plans LiteLLM's keys: their hashes, limits and models. */
import { matchesAnyModelPattern } from '../../providers/model-patterns.ts'
import { toUtc } from './litellm-budgets.ts'
import type { ModelPlan } from './litellm-models.ts'
import { isModelName, nameKey, shorten } from './litellm-names.ts'
import { asList, asNumber, asText, type Json, type LiteLlmDatabase } from './litellm-source.ts'

/** The project of keys without a team, or without a path. */
export const NO_TEAM = 'no-team'
/** The team of the keys that LiteLLM's own pages create for each login. */
export const DASHBOARD_TEAM = 'litellm-dashboard'
/** Values in lists of models that stand for all of them. */
const ALL_MODELS = new Set(['all-team-models', 'all-proxy-models', '*'])
const MAX_LIMIT = 999_999_999

export interface PlannedKey {
  hash: string
  /** The hash of the key whose former value this is. */
  former_of: string | null
  project: string
  name: string
  prefix: string
  created_at: string | null
  expires_at: string | null
  blocked: boolean
  requests_per_minute: number | null
  tokens_per_minute: number | null
  allowed_models: string[] | null
}

/** Rows that others refer to, by their ids. */
export interface Rows {
  tokens: readonly Json[]
  teams: ReadonlyMap<string | null, Json>
  users: ReadonlyMap<string | null, Json>
  /** Budgets and limits that several objects share. */
  shared: ReadonlyMap<string | null, Json>
  aliases: ReadonlyMap<unknown, Json>
  /** The shared budgets of members, by team and user. */
  members: ReadonlyMap<string, Json | undefined>
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

export function planKey(row: Json, { teams, users, shared, members }: Rows, models: ModelPlan): PlannedKey {
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

/** Returns the lowest limit; null for none. A limit of 0 allows one, the least here. */
export function lowestLimit(limits: readonly unknown[]): number | null {
  const given = limits.map(asNumber).filter(limit => limit !== null)
  return given.length === 0 ? null : Math.min(MAX_LIMIT, Math.max(1, Math.floor(Math.min(...given))))
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
