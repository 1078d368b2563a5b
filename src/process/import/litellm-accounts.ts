/** Plans the projects, members, keys and budgets for LiteLLM's teams, users and keys. */
import type { JsonObject } from '../../formats/json/canonical.ts'
import {
  type AccountPlan,
  type AccountPlanOptions,
  createAccountPlan,
  listOrNone,
  NO_TEAM,
  nameProject,
  type PlannedKey,
  type PlannedProject,
} from './accounts.ts'
import { BudgetPlanner } from './budgets.ts'
import {
  allowedModels,
  DASHBOARD_TEAM,
  indexRows,
  memberName,
  planFormerKeys,
  planKey,
  type Rows,
  reportAccountSettings,
  reportKeySettings,
} from './litellm-keys.ts'
import type { LiteLlmDatabase } from './litellm-source.ts'
import type { ImportReport } from './report.ts'
import { asList, asNumber, asObject, asText } from './source.ts'
import { isModelName } from './vendors.ts'

export function planAccounts(database: LiteLlmDatabase, options: AccountPlanOptions): AccountPlan {
  const { models, report } = options
  const budgets = new BudgetPlanner(report)
  const rows = indexRows(database)
  const modelOf = (name: string) => models.targets.get(name)?.[0] ?? name
  reportAccountSettings(database, report)
  const projects = planProjects(rows, options, (project, of, team) => {
    budgets.add({ project, of }, team)
    budgets.addByModel({ project, of }, team, modelOf)
  })
  const keys = rows.tokens.map(row => {
    const key = planKey(row, rows, models)
    const scope = { project: key.project, key: key.hash, of: `key ${key.name}` }
    const budget = { ...rows.shared.get(asText(row.budget_id)), ...withoutEmpty(row) }
    budgets.add(scope, budget)
    budgets.addByModel(scope, budget, modelOf)
    for (const window of asList(row.budget_limits)) budgets.add(scope, { ...asObject(window), spend: row.spend })
    reportKeySettings(budget, report)
    return key
  })
  addMemberBudgets(database, { rows, keys, budgets })
  keys.push(...planFormerKeys(database, keys))
  return createAccountPlan({ projects, keys, budgets: budgets.budgets }, report)
}

function planProjects(
  { tokens, teams, users, aliases }: Rows,
  options: AccountPlanOptions,
  addBudgets: (project: string, of: string, team: JsonObject) => void,
): PlannedProject[] {
  const { report } = options
  const projects: PlannedProject[] = []
  const names = new Set<string>()
  for (const [id, team] of teams) {
    if (id === null || id === DASHBOARD_TEAM) continue
    const name = nameProject(asText(team.team_alias) ?? id, id, names)
    const of = `team ${asText(team.team_alias) ?? id}`
    const settings = teamSettings(team, aliases.get(team.model_id), options)
    projects.push({ id, name, settings, members: planMembers(team, users, report) })
    const notes = [
      ...(team.blocked ? ['blocked: its keys are deactivated'] : []),
      ...((asNumber(team.rpm_limit) ?? asNumber(team.tpm_limit)) ? ['its rpm and tpm limits apply to each key'] : []),
    ]
    report.add('project', of, `project ${name}`, notes.join('; '))
    addBudgets(id, of, team)
  }
  if (tokens.some(row => !teams.has(asText(row.team_id)))) {
    const name = nameProject(options.defaultProject, NO_TEAM, names)
    projects.push({ id: NO_TEAM, name, settings: teamSettings({}, undefined, options), members: [] })
    report.add('project', 'keys without a team', `project ${name}`)
  }
  return projects
}

function teamSettings(
  team: JsonObject,
  aliasRow: JsonObject | undefined,
  { settings, models }: AccountPlanOptions,
): JsonObject {
  // Without config.yaml, models and settings stay as they are.
  if (settings === null) return {}
  const teamAliases = Object.entries(asObject(aliasRow?.aliases)).flatMap(([alias, name]) => {
    const target = models.targets.get(String(name))
    return target && isModelName(alias) ? [[alias, target] as const] : []
  })
  const targets = new Map([...models.targets, ...teamAliases])
  const allowed = allowedModels(asList(team.models), models)
  return {
    ...settings,
    aliases: [...targets].map(([name, chain]) => `${name}=${chain.join('|')}`),
    allowed_models: listOrNone(
      [...new Set([...(allowed ?? models.names), ...teamAliases.map(([alias]) => alias)])],
      allowed,
    ),
  }
}

/** Team admins become owners, and other members viewers. Users without an e-mail address cannot log in here. */
function planMembers(
  team: JsonObject,
  users: ReadonlyMap<string | null, JsonObject>,
  report: ImportReport,
): PlannedProject['members'] {
  return asList(team.members_with_roles).flatMap(entry => {
    const { user_id, user_email, role } = asObject(entry)
    const email = (asText(user_email) ?? asText(users.get(asText(user_id))?.user_email))?.trim()
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

/** A key's own value of a column precedes that of its shared budget. */
const withoutEmpty = (row: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null && JSON.stringify(value) !== '{}'))

interface MemberBudgets {
  rows: Rows
  keys: readonly PlannedKey[]
  budgets: BudgetPlanner
}

/** Divides the budgets of members in a team, and of users outside of teams, among their keys there. */
function addMemberBudgets(database: LiteLlmDatabase, { rows, keys, budgets }: MemberBudgets): void {
  const owned = Map.groupBy(keys, (key, at) => memberName(key.project, rows.tokens[at]?.user_id))
  const addTo = (of: string, user: unknown, project: string, row: JsonObject) => {
    const theirs = owned.get(memberName(project, user)) ?? []
    for (const { hash, name } of theirs)
      budgets.add({ project, key: hash, of: `${of}, key ${name}`, shares: theirs.length }, row)
  }
  for (const { user_id, team_id, budget_id, spend } of database.TeamMembership) {
    const row = rows.shared.get(asText(budget_id))
    if (row) addTo(`member ${user_id}`, user_id, String(team_id), { ...row, spend })
  }
  for (const [id, user] of rows.users) addTo(`user ${id}`, id, NO_TEAM, user)
}
