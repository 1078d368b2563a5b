/** The projects and keys that another gateway's become, their names and their limits. */
import { nowMs } from '../../event-loop/clock.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import type { PlannedBudget } from './budgets.ts'
import type { ModelPlan } from './models.ts'
import type { ImportReport } from './report.ts'
import { asNumber } from './source.ts'

/** The project of keys without a team, or without a path. */
export const NO_TEAM = 'no-team'
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

export interface PlannedProject {
  id: string
  name: string
  settings: JsonObject
  members: { email: string; role: 'owner' | 'viewer' }[]
}

export interface AccountPlan {
  projects: PlannedProject[]
  keys: PlannedKey[]
  budgets: PlannedBudget[]
}

export interface AccountPlanOptions {
  models: ModelPlan
  /** The settings of every project; null if config.yaml is not known. */
  settings: JsonObject | null
  /** The name of the project of keys without a team, or without a path. */
  defaultProject: string
  report: ImportReport
}

/** Completes a plan: gives each key a name of its own, and reports them. */
export function createAccountPlan(plan: AccountPlan, report: ImportReport): AccountPlan {
  nameKeys(plan.keys)
  reportKeys(plan, report)
  return plan
}

/** Returns the lowest limit; null for none. A limit of 0 allows one, the least here. */
export function lowestLimit(limits: readonly unknown[]): number | null {
  const given = limits.map(asNumber).filter(limit => limit !== null)
  return given.length === 0 ? null : Math.min(MAX_LIMIT, Math.max(1, Math.floor(Math.min(...given))))
}

/** An empty list of a project allows all models, and one of the other gateway whose names have no counterpart allows none. */
export const listOrNone = (names: string[], allowed: readonly string[] | null) =>
  names.length === 0 && allowed !== null ? ['no-models'] : names

/** Control characters and line separators, which names here do not contain. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/gu

/** Shortens a text to a number of characters, none of which it splits. */
export const shorten = (text: string, length: number) => [...text].slice(0, length).join('')

export const nameKey = (given: string) => shorten(given.replace(CONTROL, ' '), 100)

/** Makes the names of a project's keys unique. */
function nameKeys(keys: readonly PlannedKey[]): void {
  const taken = new Set<string>()
  for (const key of keys) {
    if (taken.has(`${key.project} ${key.name}`)) key.name = `${shorten(key.name, 85)} (${key.hash.slice(0, 8)})`
    taken.add(`${key.project} ${key.name}`)
  }
}

/** Turns a team's alias, or its id if nothing of the alias remains, into a project's name: letters, digits, dots, dashes and underscores. */
export function nameProject(alias: string, id: string, taken: Set<string>): string {
  const base = [alias, id, 'team'].map(cleanName).find(name => name !== '') ?? ''
  let name = base
  for (let n = 2; taken.has(name); n++) name = `${base}-${n}`
  taken.add(name)
  return name
}

const cleanName = (given: string) =>
  given
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9._]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 58)
    .replace(/-$/, '')

/** Reports each key, and how it differs. */
function reportKeys({ projects, keys }: AccountPlan, report: ImportReport): void {
  const projectNames = new Map(projects.map(({ id, name }) => [id, name]))
  for (const { prefix, name, project, blocked, expires_at, tokens_per_minute } of keys) {
    const differences = [
      blocked ? 'blocked: deactivated' : '',
      expires_at && Date.parse(expires_at) < nowMs() ? 'expired' : '',
      tokens_per_minute === null ? '' : 'its tpm limit counts max_tokens before a call',
    ]
    report.add(
      'key',
      name.startsWith(prefix) ? name : `${prefix} ${name}`,
      `key of ${projectNames.get(project)}`,
      differences.filter(Boolean).join('; '),
    )
  }
}
