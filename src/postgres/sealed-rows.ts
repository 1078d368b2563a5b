/** Lists all values sealed with the encryption key, for the rotation of that key. */
import type { Database } from './database.ts'

/** A table with sealed values. Columns of type bytea are always sealed; text is sealed if it starts with U+0001. */
export interface SealedTable {
  table: string
  /** The columns and types of a unique or almost unique index, in its order. */
  key: readonly (readonly [column: string, type: string])[]
  columns: readonly string[]
  type: 'bytea' | 'text'
  /** A SQL expression for the label under which the values are sealed. */
  provider: string
  /** A SQL expression for the project under which they are sealed; its column by default. */
  projectId?: string
}

const ID = [['id', 'bigint']] as const
const REQUEST = [
  ['project_id', 'bigint'],
  ['request_id', 'text'],
] as const

export const SEALED_SECRETS: readonly SealedTable[] = [
  {
    table: 'provider_keys',
    key: [
      ['project_id', 'bigint'],
      ['provider', 'text'],
      ['name', 'text'],
    ],
    columns: ['sealed'],
    type: 'bytea',
    provider: 'provider',
  },
  {
    table: 'vendor_keys',
    key: [['vendor', 'text']],
    columns: ['sealed'],
    type: 'bytea',
    provider: 'vendor',
    projectId: '0',
  },
  { table: 'webhooks', key: ID, columns: ['sealed'], type: 'bytea', provider: `'webhook'` },
]

/** Contents expire, so one that no key can open is lost and no error. */
export const SEALED_CONTENTS: readonly SealedTable[] = [
  {
    table: 'request_contents',
    key: REQUEST,
    columns: ['sealed_request', 'sealed_response'],
    type: 'bytea',
    provider: `'wording'`,
  },
  { table: 'semantic_hits', key: REQUEST, columns: ['sealed_wording'], type: 'bytea', provider: `'wording'` },
  { table: 'cache_entries', key: ID, columns: ['response'], type: 'text', provider: `'answer'` },
  { table: 'cache_prompts', key: [['entry_id', 'bigint']], columns: ['prompt'], type: 'text', provider: `'answer'` },
  {
    table: 'stored_responses',
    key: [
      ['project_id', 'bigint'],
      ['key_id', 'bigint'],
      ['id', 'text'],
    ],
    columns: ['response', 'input'],
    type: 'text',
    provider: `'answer'`,
  },
  {
    table: 'stored_turns',
    key: [
      ['project_id', 'bigint'],
      ['key_id', 'bigint'],
      ['name', 'text'],
      ['made_by', 'text'],
    ],
    columns: ['extras'],
    type: 'text',
    provider: `'answer'`,
  },
  { table: 'judge_queue', key: ID, columns: ['context', 'asked'], type: 'text', provider: `'answer'` },
  {
    table: 'idempotent_requests',
    key: [
      ['caller', 'text'],
      ['key_hash', 'bytea'],
    ],
    columns: ['response'],
    type: 'bytea',
    provider: `'idempotent response'`,
    projectId: '0',
  },
]

export interface SealedValue {
  projectId: number
  /** The project's name. */
  project: string
  provider: string
  value: string
  /** Replaces the value, unless the row has changed meanwhile. */
  replace(value: string): Promise<void>
}

/** Pages are small because rows may be large. */
const PAGE_ROWS = 50

interface SealedRow extends Pick<SealedValue, 'projectId' | 'project' | 'provider'> {
  key: string[]
  values: (string | null)[]
}

/** Lists sealed values as text; bytea as `\x` and hex. Rows that other processes add meanwhile are sealed with their current key. */
export async function* listSealed(database: Database, sealed: SealedTable): AsyncGenerator<SealedValue> {
  const { table, key, columns, type, provider, projectId = 't.project_id' } = sealed
  const keyColumns = key.map(([column]) => column).join(', ')
  const isSealed = (column: string) => (type === 'bytea' ? `${column} is not null` : `starts_with(${column}, e'\\x01')`)
  const keyParameters = key.map(([, type], at) => `$${at + 1}::text::${type}`).join(', ')
  const select = (after: string) => `
select ${projectId} as "projectId", coalesce((select p.name from model_proxy.projects p where p.id = ${projectId}), 'installation') as project, ${provider} as provider,
    array[${key.map(([column]) => `${column}::text`).join(', ')}] as key,
    array[${columns.map(column => `case when ${isSealed(column)} then ${column}::text end`).join(', ')}] as values
from model_proxy.${table} t
where (${columns.map(isSealed).join(' or ')})${after}
order by ${keyColumns}
fetch first ${PAGE_ROWS} rows with ties`
  const update = (column: string) => `
update model_proxy.${table} set ${column} = $${key.length + 1}::text::${type}
where (${keyColumns}) = (${keyParameters}) and ${column} = $${key.length + 2}::text::${type}`

  let last: string[] | null = null
  for (;;) {
    const text = select(last === null ? '' : ` and (${keyColumns}) > (${keyParameters})`)
    const rows: SealedRow[] = await database.call<SealedRow>(text, last ?? [])
    for (const row of rows) {
      for (const [at, value] of row.values.entries()) {
        if (value === null) continue
        const column = columns[at] ?? ''
        const replace = async (after: string) => void (await database.call(update(column), [...row.key, after, value]))
        yield { projectId: row.projectId, project: row.project, provider: row.provider, value, replace }
      }
    }
    if (rows.length === 0) return
    last = rows.at(-1)?.key ?? null
  }
}
