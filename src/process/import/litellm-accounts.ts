/** Plans the projects, members, keys and budgets for LiteLLM's teams, users and keys. */
import type { ImportReport } from './import-report.ts'
import { BudgetPlanner, type PlannedBudget, toUtc } from './litellm-budgets.ts'
import type { ModelPlan } from './litellm-models.ts'
import { nameKeys, nameProject } from './litellm-names.ts'
import { reportAccountSettings, reportKeySettings, reportKeys } from './litellm-omitted.ts'
import { asList, asNumber, asObject, asText, type Json, type LiteLlmDatabase } from './litellm-source.ts'

/** The project of keys without a team. */
const NO_TEAM = 'no-team'
/** The team of the keys that LiteLLM's own pages create for each login. */
const DASHBOARD_TEAM = 'litellm-dashboard'
/** Values in lists of models that stand for all of them. */
const ALL_MODELS = new Set(['all-team-models', 'all-proxy-models', '*'])
const MAX_LIMIT = 999_999_999

export interface PlannedProject {
  id: string
  name: string
  settings: Json
  members: { email: string; role: 'owner' | 'viewer' }[]
}

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

export interface AccountPlan {
  projects: PlannedProject[]
  keys: PlannedKey[]
  budgets: PlannedBudget[]
}

export interface AccountPlanOptions {
  models: ModelPlan
  /** The settings of every project. */
  settings: Json
  /** Whether `models` is known. If not, models and settings of projects stay as they are. */
  hasModels: boolean
  /** The name of the project of keys without a team. */
  defaultProject: string
  report: ImportReport
}

export function planAccounts(database: LiteLlmDatabase, options: AccountPlanOptions): AccountPlan {
  const { models, defaultProject, report } = options
  const budgets = new BudgetPlanner(report)
  const shared = new Map(database.BudgetTable.map(row => [asText(row.budget_id), row]))
  const users = new Map(database.UserTable.map(row => [asText(row.user_id), row]))
  const teams = new Map(database.TeamTable.map(row => [asText(row.team_id) ?? '', row]))
  const modelOf = (name: string) => models.targets.get(name)?.[0] ?? name
  const tokens = database.VerificationToken.filter(row => row.team_id !== DASHBOARD_TEAM)
  reportAccountSettings(database, report)

  const projects: PlannedProject[] = []
  const names = new Set<string>()
  for (const [id, team] of teams) {
    if (id === DASHBOARD_TEAM) continue
    const name = nameProject(asText(team.team_alias) ?? id, names)
    const of = `team ${asText(team.team_alias) ?? id}`
    const aliases = database.ModelTable.find(row => row.id === team.model_id)
    projects.push({
      id,
      name,
      settings: teamSettings(team, aliases, options),
      members: planMembers(team, users, report),
    })
    const isLimited = asNumber(team.rpm_limit) ?? asNumber(team.tpm_limit)
    report.add(
      'project',
      of,
      `project ${name}`,
      [
        team.blocked ? 'blocked: its keys are deactivated' : '',
        isLimited ? 'its rpm and tpm limits apply to each key' : '',
      ]
        .filter(Boolean)
        .join('; '),
    )
    budgets.add({ project: id, of }, team)
    budgets.addByModel({ project: id, of }, team, modelOf)
  }
  if (tokens.some(row => !teams.has(asText(row.team_id) ?? ''))) {
    const name = nameProject(defaultProject, names)
    projects.push({ id: NO_TEAM, name, settings: teamSettings({}, undefined, options), members: [] })
    report.add('project', 'keys without a team', `project ${name}`)
  }

  const keys = tokens.map(row => {
    const team = teams.get(asText(row.team_id) ?? '')
    const key = planKey(row, team, models)
    const of = `key ${key.name}`
    const budget = { ...shared.get(asText(row.budget_id)), ...withoutNulls(row) }
    budgets.add({ project: key.project, key: key.hash, of }, budget)
    budgets.addByModel({ project: key.project, key: key.hash, of }, budget, modelOf)
    for (const window of asList(row.budget_limits))
      budgets.add({ project: key.project, key: key.hash, of }, { ...asObject(window), spend: row.spend })
    reportKeySettings(row, report)
    return key
  })
  addMemberBudgets(tokens, keys, { database, shared, users, budgets })
  keys.push(...planFormerKeys(database, keys))
  nameKeys(keys)
  reportKeys(keys, projects, report)
  return { projects, keys, budgets: budgets.budgets }
}

function teamSettings(
  team: Json,
  aliasRow: Json | undefined,
  { settings, models, hasModels }: AccountPlanOptions,
): Json {
  if (!hasModels) return {}
  const teamAliases = Object.entries(asObject(asMaybeJson(aliasRow?.aliases))).flatMap(([alias, name]) => {
    const target = models.targets.get(String(name))
    return target ? [[alias, target] as const] : []
  })
  const targets = new Map([...models.targets, ...teamAliases])
  const allowed = allowedModels(asList(team.models), models)
  return {
    ...settings,
    aliases: [...targets].map(([name, chain]) => `${name}=${chain.join('|')}`),
    allowed_models: [...new Set([...(allowed ?? models.names), ...teamAliases.map(([alias]) => alias)])],
  }
}

/** JSON in a column of text. */
const asMaybeJson = (value: unknown) => (typeof value === 'string' ? JSON.parse(value) : value)

/** Returns the names of a list, with access groups replaced by their members; null if it allows all. */
function allowedModels(list: readonly unknown[], { groups }: ModelPlan): string[] | null {
  const names = list.map(String)
  if (names.length === 0 || names.some(name => ALL_MODELS.has(name))) return null
  return [...new Set(names.flatMap(name => groups.get(name) ?? [name]))]
}

/** Team admins become owners, and other members viewers. Users without an e-mail address cannot log in here. */
function planMembers(
  team: Json,
  users: ReadonlyMap<string | null, Json>,
  report: ImportReport,
): PlannedProject['members'] {
  return asList(team.members_with_roles).flatMap(entry => {
    const { user_id, user_email, role } = asObject(entry)
    const email = (asText(user_email) ?? asText(users.get(asText(user_id))?.user_email))?.trim().toLowerCase()
    if (email === undefined || !/^[^\s@]{1,64}@[^\s@]{1,190}$/.test(email)) {
      report.omit('members without an e-mail address', 'people log in with their e-mail address')
      return []
    }
    const member = { email, role: role === 'admin' ? ('owner' as const) : ('viewer' as const) }
    report.add(
      'user',
      `${email} in ${asText(team.team_alias) ?? team.team_id}`,
      member.role,
      'logs in after an invitation, or by OpenID Connect',
    )
    return [member]
  })
}

function planKey(row: Json, team: Json | undefined, models: ModelPlan): PlannedKey {
  const token = asText(row.token) ?? ''
  // Old versions of LiteLLM stored some keys as they are.
  const hash = /^[0-9a-f]{64}$/.test(token) ? token : Bun.SHA256.hash(token, 'hex')
  const shown = asText(row.key_name) ?? `litellm-${hash.slice(0, 8)}`
  const expires = asText(row.expires)
  const created = asText(row.created_at)
  return {
    hash,
    former_of: null,
    project: team ? String(team.team_id) : NO_TEAM,
    name: (asText(row.key_alias) ?? shown).replace(/\p{Cc}/gu, ' ').slice(0, 100),
    prefix: shown.slice(0, 20),
    created_at: created && toUtc(created),
    expires_at: expires && toUtc(expires),
    blocked: row.blocked === true || team?.blocked === true,
    requests_per_minute: lowerLimit(row.rpm_limit, team?.rpm_limit),
    tokens_per_minute: lowerLimit(row.tpm_limit, team?.tpm_limit),
    allowed_models: allowedModels(asList(row.models), models),
  }
}

/** Returns the lower limit; null for none. A limit of 0 allows one, the least here. */
function lowerLimit(...limits: readonly unknown[]): number | null {
  const given = limits.map(asNumber).filter(limit => limit !== null)
  return given.length === 0 ? null : Math.min(MAX_LIMIT, Math.max(1, Math.floor(Math.min(...given))))
}

const withoutNulls = (row: Json): Json => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))

interface MemberBudgets {
  database: LiteLlmDatabase
  shared: ReadonlyMap<string | null, Json>
  users: ReadonlyMap<string | null, Json>
  budgets: BudgetPlanner
}

/** Divides the budgets of members in a team, and of users outside of teams, among their keys there. */
function addMemberBudgets(tokens: readonly Json[], keys: readonly PlannedKey[], options: MemberBudgets): void {
  const { database, shared, users, budgets } = options
  const owned = (user: unknown, project: string) =>
    keys.filter((key, at) => key.project === project && tokens[at]?.user_id === user && user != null)
  const addTo = (of: string, user: unknown, project: string, row: Json) => {
    const theirs = owned(user, project)
    for (const { hash, name } of theirs)
      budgets.add({ project, key: hash, of: `${of}, key ${name}`, shares: theirs.length }, row)
  }
  for (const { user_id, team_id, budget_id, spend } of database.TeamMembership) {
    const row = shared.get(asText(budget_id))
    if (row) addTo(`member ${user_id}`, user_id, String(team_id), { ...row, spend })
  }
  for (const [id, user] of users) addTo(`user ${id}`, id, NO_TEAM, user)
}

/** Values of rotated keys that are still accepted. */
function planFormerKeys(
  { DeprecatedVerificationToken: rows }: LiteLlmDatabase,
  keys: readonly PlannedKey[],
): PlannedKey[] {
  const byHash = new Map(keys.map(key => [key.hash, key]))
  return rows.flatMap(({ token, active_token_id, revoke_at }) => {
    const key = byHash.get(String(active_token_id))
    const revoked = asText(revoke_at)
    if (!key || !revoked || byHash.has(String(token))) return []
    return [
      {
        ...key,
        hash: String(token),
        former_of: key.hash,
        name: `${key.name.slice(0, 85)} (former)`,
        expires_at: toUtc(revoked),
      },
    ]
  })
}
