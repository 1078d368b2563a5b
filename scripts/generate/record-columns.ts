/** Writes the columns of usage_records as schemas, which the recorder, the admin API and the docs use. */
import type { Database } from '../../src/postgres/database.ts'
import { FAILURE_KINDS } from '../../src/providers/failure-kind.ts'

interface Column {
  name: string
  type: string
  nullable: boolean
  comment: string
  /** The values that a check constraint allows; null for any. */
  words: string[] | null
}

const COLUMNS = `
select a.attname as name, format_type(a.atttypid, null) as type, not a.attnotnull as nullable, col_description(a.attrelid, a.attnum) as comment,
    (
        select array_agg(m.word[1] order by m.place)
        from pg_constraint c, regexp_matches(pg_get_constraintdef(c.oid), '''([^'']+)''::text', 'g') with ordinality as m (word, place)
        where c.conrelid = a.attrelid and c.contype = 'c' and c.conkey = array[a.attnum]
    ) as words
from pg_attribute a
where a.attrelid = 'model_proxy.usage_records'::regclass and a.attnum > 0 and not a.attisdropped
order by a.attnum`

const COUNT = { name: 'Integer', options: ['minimum: 0'] }
/** JSON types of column types. */
const KINDS = new Map<string, { name: string; options?: string[] }>([
  ['text', { name: 'String' }],
  ['timestamp with time zone', { name: 'String' }],
  ['smallint', COUNT],
  ['integer', COUNT],
  ['bigint', COUNT],
  ['numeric', { name: 'Number' }],
  ['real', { name: 'Number' }],
  ['boolean', { name: 'Boolean' }],
])

export async function writeRecordColumns(database: Pick<Database, 'call'>): Promise<string> {
  const columns = await database.call<Column>(COLUMNS, [])
  return `/** Written by \`bun run generate-types\`: the columns of usage_records. */
import { Type as t } from '@sinclair/typebox'

export const USAGE_RECORD_COLUMNS = {
${columns.map(column => `  ${column.name}: ${writeSchema(column)},`).join('\n')}
}
`
}

function writeSchema(column: Column): string {
  const description = `description: ${JSON.stringify(column.comment)}`
  return column.nullable
    ? `t.Union([${writeKind(column)}, t.Null()], { ${description} })`
    : writeKind(column, description)
}

/** Schemas of the columns of type jsonb, which are nullable. */
const JSON_KINDS = new Map([
  // Names and values.
  ['tags', 't.Record(t.String(), t.String())'],
  [
    'attempt_list',
    `t.Array(t.Object({ model: t.String(), provider: t.String(), key: ${nullable('t.String()')}, kind: ${nullable(writeWords(Object.keys(FAILURE_KINDS)))}, status: ${nullable('t.Integer()')}, ms: t.Integer({ minimum: 0 }) }))`,
  ],
  [
    'cache_decision',
    `t.Object({ policy: t.String(), risk: ${nullable('t.String()')}, threshold: t.Number(), cosine: ${nullable('t.Number()')}, compared: t.Integer({ minimum: 0 }), scope: t.String(), veto: ${nullable('t.String()')}, verdict: ${nullable('t.String()')}, objections: t.Array(t.Object({ number: t.String(), effect: t.Number() })) })`,
  ],
])

function writeJsonKind(name: string): string {
  const kind = JSON_KINDS.get(name)
  if (kind === undefined) throw new Error(`no schema for the JSON column ${name}: add one in record-columns.ts`)
  return kind
}

function nullable(schema: string): string {
  return `t.Union([${schema}, t.Null()])`
}

function writeWords(words: readonly string[], ...options: string[]): string {
  const quoted = words.map(word => JSON.stringify(word))
  return `t.Unsafe<${quoted.join(' | ')}>({ ${["type: 'string'", `enum: [${quoted.join(', ')}]`, ...options].join(', ')} })`
}

function writeKind({ name, type, words }: Column, ...options: string[]): string {
  if (words) return writeWords(words, ...options)
  if (type === 'jsonb') return writeJsonKind(name)
  const kind = KINDS.get(type)
  if (!kind) throw new Error(`no JSON type for ${type}: add one in record-columns.ts`)
  const all = [...(kind.options ?? []), ...options]
  return `t.${kind.name}(${all.length === 0 ? '' : `{ ${all.join(', ')} }`})`
}
