/** Statements that create again what a database lacks of the schema, or has otherwise: all but tables, columns and types. */
import type { Difference } from './check-schema.ts'
import type { Script } from './database.ts'

export interface Repair extends Script {
  /** Names of the differences that it ends: one call repairs all grants. */
  ends: string[]
}

/** Null: it cannot be created again. `deploy`: views and functions are deployed anew. */
type Way = string | 'deploy' | null

/** In the order of repair: keys before what refers to them, functions before triggers and policies. */
const ORDER = [
  'column',
  'key',
  'constraint',
  'reference',
  'index',
  'deploy',
  'trigger',
  'row',
  'policy',
  'grant',
  'comment',
]

const ENSURE_ROLE = 'select ensure_dashboard_role();'

export interface RepairPlan {
  /** Columns, constraints and indexes. */
  before: Repair[]
  /** Views and functions; empty where they are as they should be. */
  deployed: string[]
  /** What refers to functions. */
  after: Repair[]
  /** What holds rows, and cannot be created again. */
  lost: Difference[]
}

export function planRepair(differences: readonly Difference[]): RepairPlan {
  const plan: RepairPlan = { before: [], deployed: [], after: [], lost: [] }
  const ranked = differences.map(difference => ({ difference, rank: ORDER.indexOf(kindOf(difference)) }))
  for (const { difference, rank } of ranked.toSorted((a, b) => a.rank - b.rank)) {
    const text = repairOf(difference)
    const name = nameDifference(difference)
    const phase = rank < ORDER.indexOf('deploy') ? plan.before : plan.after
    const same = phase.find(repair => repair.text === text)
    if (text === null) plan.lost.push(difference)
    else if (text === 'deploy') plan.deployed.push(name)
    else if (same) same.ends.push(name)
    else phase.push({ name, text, ends: [name] })
  }
  return plan
}

export function nameDifference({ object, item }: Difference): string {
  return item === '' ? object : `${object}: ${item}`
}

/** With the statement to run, where there is one. */
export function describeDifference(difference: Difference, schema: string): string {
  const { needed, found } = difference
  const problem = found === null ? 'is missing' : `is "${found}"${needed === null ? '' : `, not "${needed}"`}`
  const text = repairOf(difference)
  const command =
    text === null || text === 'deploy' ? '' : `. Run: set search_path = ${schema}; ${text.replaceAll('\n', ' ')}`
  return `${nameDifference(difference)} ${problem}${command}`
}

function kindOf({ item, object, needed }: Difference): string {
  const [kind = ''] = item.split(' ')
  if (kind === 'grant') return kind
  if (!object.startsWith('table ')) return kind === 'comment' ? kind : 'deploy'
  if (kind !== 'constraint') return kind
  if (/^(PRIMARY KEY|UNIQUE)/.test(needed ?? '')) return 'key'
  return needed?.startsWith('FOREIGN KEY') ? 'reference' : kind
}

function repairOf(difference: Difference): Way {
  const { object, item, needed, found } = difference
  const [kind = '', name = ''] = item.split(' ')
  if (kind === 'grant') return ENSURE_ROLE
  if (kind === 'comment' && needed !== null) {
    const [, relation = ''] = object.split(' ')
    return `comment on ${name ? `column ${relation}."${name}"` : object} is '${needed.replaceAll("'", "''")}';`
  }
  if (object === 'functions' || object.startsWith('view ')) return 'deploy'
  if (!object.startsWith('table ') || item === '') return null
  const table = object.slice('table '.length)
  const alter = `alter table ${table}`
  const dropIf = (drop: string) => (found === null ? '' : `${drop};\n`)
  switch (kind) {
    case 'column':
      return found === null ? null : alterColumn(`${alter} alter column "${name}"`, needed ?? '', found)
    case 'constraint':
      return `${dropIf(`${alter} drop constraint ${name}`)}${alter} add constraint ${name} ${needed};`
    case 'index':
      return `${dropIf(`drop index ${name}`)}${needed};`
    case 'trigger':
      return `${dropIf(`drop trigger ${name} on ${table}`)}${needed};`
    case 'row':
      return `${alter} no force row level security;${needed === null ? '' : `\n${alter} enable row level security;`}`
    case 'policy':
      return `${dropIf(`drop policy ${name} on ${table}`)}create policy ${name} on ${table} ${needed};`
    default:
      return null
  }
}

const COLUMN =
  /^(?<type>.+?)(?<isNeeded> not null)?(?: generated (?<identity>always|by default) as identity)?(?: default (?<value>.+?))?(?<isPlain> storage plain)?$/

/** Another type, or another generated expression, would be another column. */
function alterColumn(alter: string, needed: string, found: string): Way {
  const [wanted, present] = [COLUMN.exec(needed)?.groups, COLUMN.exec(found)?.groups]
  if (!wanted || !present || wanted.type !== present.type) return null
  const actions: string[] = []
  if (wanted.isNeeded !== present.isNeeded) actions.push(wanted.isNeeded ? 'set not null' : 'drop not null')
  if (wanted.value !== present.value) actions.push(wanted.value ? `set default ${wanted.value}` : 'drop default')
  if (wanted.identity !== present.identity) {
    if (present.identity) actions.push('drop identity')
    if (wanted.identity) actions.push(`add generated ${wanted.identity} as identity`)
  }
  if (wanted.isPlain !== present.isPlain) actions.push(`set storage ${wanted.isPlain ? 'plain' : 'extended'}`)
  return actions.map(action => `${alter} ${action};`).join('\n')
}
