/** Plans the projects, keys and budgets for GoModel's paths: a project for each first segment. A limit that keys share applies to each of them. */
import type { JsonObject } from '../../formats/json/canonical.ts'
import { hashGoModelKey } from '../../postgres/key-hash.ts'
import { matchesAnyModelPattern } from '../../providers/model-patterns.ts'
import {
  type AccountPlan,
  type AccountPlanOptions,
  createAccountPlan,
  listOrNone,
  lowestLimit,
  NO_TEAM,
  nameKey,
  nameProject,
  type PlannedKey,
  type PlannedProject,
  shorten,
} from './accounts.ts'
import { BudgetPlanner } from './budgets.ts'
import { allowsTarget, type GoModelModels, isAllowed, patternsOf, type Redirect } from './gomodel-models.ts'
import { type GoModelConfig, type GoModelDatabase, isTrue, isWithin, normalizePath } from './gomodel-source.ts'
import type { ImportReport } from './report.ts'
import { asList, asNumber, asText } from './source.ts'
import { isModelName } from './vendors.ts'

interface GoModelPlanOptions extends AccountPlanOptions {
  config: GoModelConfig
  virtual: GoModelModels
}

/** A key, and the path that it is bound to. */
interface BoundKey {
  path: string
  /** Lists of models that it must be in. */
  lists: readonly (readonly string[])[]
  key: PlannedKey
}

export function planGoModelAccounts(database: GoModelDatabase, options: GoModelPlanOptions): AccountPlan {
  const { report } = options
  const bound = planKeys(database, options)
  const projects = planProjects(database, bound, options)
  for (const { key, path, lists } of bound) {
    const redirects = redirectsOf(projectPathOf(path), options)
    key.allowed_models = allowedBy(lists, redirects, options, `key ${key.name}`)
  }
  const budgets = new BudgetPlanner(report)
  const inOrder = database.budgets.toSorted((a, b) => subjectOf(a).localeCompare(subjectOf(b)))
  for (const row of inOrder) addBudget(row, { database, bound, budgets, report })
  const keys = bound.map(({ key }) => key)
  for (const { table, reason } of database.omitted) report.omit(`rows of ${table}`, reason)
  return createAccountPlan({ projects, keys, budgets: budgets.budgets }, report)
}

/** `/team` of `/team/alpha`; `/` without a path. */
const projectPathOf = (path: string): string => `/${path.split('/')[1]}`
const projectIdOf = (path: string): string => (path === '/' ? NO_TEAM : projectPathOf(path))

function planKeys(database: GoModelDatabase, { config, report }: GoModelPlanOptions): BoundKey[] {
  reportRateLimits(database, report)
  return database.auth_keys.flatMap(row => {
    const name = nameKey(asText(row.name) ?? String(row.id))
    const stored = String(row.secret_hash)
    if (!/^[0-9a-f]{64}$/i.test(stored)) {
      report.omit(`key ${name}`, 'its hash is no SHA-256')
      return []
    }
    if (asText(row.user_id) !== null) {
      report.omit(`key ${name}`, 'it is bound to a user, whose path may change: bind it to a path')
      return []
    }
    if (asList(row.labels).length > 0) report.omit('key labels', 'a key adds no tags: clients send X-Proxy-Tags')
    if (isTrue(row.dashboard_access)) report.omit('key dashboard_access', 'administrators have accounts')
    const path = normalizePath(row.user_path)
    const limits = database.rate_limits.filter(limit => isAbout(limit, path) && limit.period_seconds === 60)
    const own = asList(row.allowed_models).map(String)
    const key = {
      // A key that GoModel imported from LiteLLM is stored by the hash of the whole.
      hash: asText(row.imported_from) === null ? hashGoModelKey(stored) : stored.toLowerCase(),
      former_of: null,
      project: projectIdOf(path),
      name,
      prefix: shorten(nameKey(asText(row.redacted_value) ?? name), 20),
      created_at: toTime(row.created_at),
      expires_at: toTime(row.expires_at),
      blocked: !isTrue(row.enabled) || asNumber(row.deactivated_at) !== null,
      requests_per_minute: lowestLimit(limits.map(limit => limit.max_requests)),
      tokens_per_minute: lowestLimit(limits.map(limit => limit.max_tokens)),
      allowed_models: null,
    }
    return [{ path, lists: [...listsAt(path, database, config), ...(own.length > 0 ? [own] : [])], key }]
  })
}

const toTime = (seconds: unknown): string | null => {
  const given = asNumber(seconds)
  return given === null ? null : new Date(given * 1000).toISOString()
}

const isOfPath = ({ scope }: JsonObject): boolean => scope === undefined || scope === 'user_path'
/** Former versions have a column user_path instead of scope and subject. */
const subjectOf = ({ subject, user_path }: JsonObject): string => normalizePath(subject ?? user_path)

/** Returns whether a limit applies to the path. One for each child does not apply to the path itself. */
const isAbout = (limit: JsonObject, path: string): boolean =>
  isOfPath(limit) && isWithin(path, subjectOf(limit)) && !(isTrue(limit.per_child) && path === subjectOf(limit))

function reportRateLimits({ rate_limits }: GoModelDatabase, report: ImportReport): void {
  for (const limit of rate_limits)
    if (!isOfPath(limit))
      report.omit(`rate limits per ${limit.scope}`, 'a vendor’s own 429 moves the request to the next model instead')
    else if (limit.period_seconds === 0)
      report.omit('limits of concurrent requests', 'concurrency is limited per key, by the plan')
    else if (limit.period_seconds !== 60)
      report.omit('rate limits of other periods', 'keys have limits per minute, and plans per month')
    else report.add('setting', `rate limit of ${subjectOf(limit)}`, 'limits of its keys', 'it applies to each key')
}

/** Returns the lists of models of the path and of those above it. */
function listsAt(path: string, database: GoModelDatabase, config: GoModelConfig): string[][] {
  const rows = [...database.users.filter(row => row.allowed_models !== undefined), ...config.users]
  // Those of config.yaml replace those of the database.
  const lists = new Map(
    rows.map(row => [normalizePath(row.user_path ?? row.path), asList(row.allowed_models).map(String)]),
  )
  return [...lists].filter(([above, list]) => list.length > 0 && isWithin(path, above)).map(([, list]) => list)
}

/** Returns the redirects that all keys of a project may use. The name of one that has no alias here is that of another model. */
const redirectsOf = (path: string, { virtual, models }: GoModelPlanOptions): Redirect[] =>
  virtual.redirects.filter(({ source, paths }) => models.targets.has(source) && isAllowed(path, paths))

function planProjects(
  database: GoModelDatabase,
  bound: readonly BoundKey[],
  options: GoModelPlanOptions,
): PlannedProject[] {
  const { virtual, models, settings, config, report } = options
  const names = new Set<string>()
  for (const { source, paths } of virtual.redirects)
    if (paths.some(path => path.split('/').length > 2))
      report.omit(`user_paths of ${source}`, 'an alias belongs to a project: projects below these paths do not get it')
  if (virtual.hasPolicies)
    report.omit('access policies', 'lists have no exceptions: a project allows only the aliases that are open to it')
  return [...new Set(bound.map(({ path }) => projectPathOf(path)))].map(path => {
    const id = projectIdOf(path)
    const name = nameProject(id === NO_TEAM ? options.defaultProject : path.slice(1), id, names)
    const redirects = redirectsOf(path, options)
    const listed = allowedBy(listsAt(path, database, config), redirects, options, `project ${name}`)
    const open = redirects.filter(({ targets }) => targets.every(target => virtual.isOpen(target, path)))
    const allowed = virtual.hasPolicies
      ? open.map(({ source }) => source).filter(source => listed === null || listed.includes(source))
      : listed
    const aliases = redirects.map(({ source }) => `${source}=${models.targets.get(source)?.join('|')}`)
    report.add('project', id === NO_TEAM ? 'keys without a path' : path, `project ${name}`)
    return {
      id,
      name,
      settings: { ...settings, aliases, allowed_models: listOrNone(allowed ?? [], allowed) },
      members: [],
    }
  })
}

/** Returns the names here that all lists allow; null if there is no list. A redirect is allowed if all its models are. */
function allowedBy(
  all: readonly (readonly string[])[],
  redirects: readonly Redirect[],
  { models, report }: GoModelPlanOptions,
  of: string,
): string[] | null {
  const lists = all.filter(list => !list.includes('*'))
  if (lists.length === 0) return null
  const isPermitted = ({ targets }: Redirect) =>
    targets.every(target => lists.every(list => allowsTarget(list, target)))
  const permitted = redirects.filter(isPermitted).map(({ source }) => source)
  const hidden = redirects.filter(redirect => !isPermitted(redirect)).map(({ source }) => source)
  const patterns = lists.map(list => patternsOf(list, models.patterns)).reduce(intersect)
  const names = patterns.filter(pattern => !hidden.some(name => matchesAnyModelPattern(name, [pattern])))
  if (names.length < patterns.length)
    report.omit(`models of ${of}`, 'a name that it allows is that of a virtual model for others: list the names')
  return [...new Set([...permitted, ...names])].filter(isModelName)
}

const intersect = (list: string[], other: string[]): string[] => [
  ...list.filter(name => matchesAnyModelPattern(name, other)),
  ...other.filter(name => matchesAnyModelPattern(name, list)),
]

interface BudgetOptions {
  database: GoModelDatabase
  bound: readonly BoundKey[]
  budgets: BudgetPlanner
  report: ImportReport
}

/** Adds a budget of a project, or divides that of a deeper path among the keys below it. */
function addBudget(row: JsonObject, { database, bound, budgets, report }: BudgetOptions): void {
  const subject = subjectOf(row)
  if (!isOfPath(row)) {
    report.omit(`budget of label ${row.subject}`, 'set a budget of a tag, which clients send with X-Proxy-Tags')
    return
  }
  if (subject === '/' && !isTrue(row.per_child)) {
    report.omit('budget of /', 'set the organization’s budget: scripts/set-budget.sql, or the page Budgets')
    return
  }
  const about = bound.filter(({ path }) => isAbout(row, path))
  const depth = subject.split('/').length + (subject === '/' ? 0 : 1)
  const groups = Map.groupBy(about, ({ path }) =>
    isTrue(row.per_child) ? path.split('/').slice(0, depth).join('/') : subject,
  )
  if (groups.size === 0) report.omit(`budget of ${subject}`, 'no key is bound to this path')
  for (const [path, keys] of groups) {
    const sums = [...(database.spent.get(Number(row.begin)) ?? [])].filter(([of]) => isWithin(of, path))
    const given = {
      max_budget: row.amount,
      budget_duration: `${row.period_seconds}s`,
      spend: sums.reduce((sum, [, usd]) => sum + usd, 0),
    }
    if (path === projectPathOf(path)) budgets.add({ project: path, of: `path ${path}` }, given)
    else
      for (const { key } of keys)
        budgets.add(
          { project: key.project, key: key.hash, of: `path ${path}, key ${key.name}`, shares: keys.length },
          given,
        )
  }
}
