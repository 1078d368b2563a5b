/** Generates schemas of the views in sql/api from their columns, column types and comments. */
import type { Database } from '../../src/postgres/database.ts'

interface Typed {
  name: string
  type: string
  /** `''` without a comment. */
  comment: string
}

interface Found {
  views: { name: string; comment: string; columns: Typed[] }[]
  /** Composite types and domains by name. A table whose rows a response has is one, too. */
  composites: Record<string, Typed[]>
  domains: Record<string, { base: string; check: string | null; comment: string }>
}

const READ = `
with relations as (
    select c.oid, c.relname, c.relkind, coalesce(obj_description(c.oid), '') as comment, (
        select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null), 'comment', coalesce(col_description(c.oid, a.attnum), '')) order by a.attnum)
        from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    ) as columns
    from pg_class c
    where c.relnamespace = 'model_proxy'::regnamespace
        and (c.relkind = 'c' or c.relname = 'setting_kinds' or c.relkind = 'v' and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = '_id'))
)
select
    (select json_agg(json_build_object('name', relname, 'comment', comment, 'columns', columns) order by relname collate "C") from relations where relkind = 'v') as views,
    (select json_object_agg(relname, columns order by relname collate "C") from relations where relkind <> 'v') as composites,
    (
        select json_object_agg(t.typname, json_build_object(
            'base', format_type(t.typbasetype, null),
            'check', (select pg_get_constraintdef(k.oid) from pg_constraint k where k.contypid = t.oid limit 1),
            'comment', coalesce(obj_description(t.oid, 'pg_type'), '')
        ))
        from pg_type t
        where t.typnamespace = 'model_proxy'::regnamespace and t.typtype = 'd'
    ) as domains`

export async function describeViews(database: Pick<Database, 'call'>): Promise<string> {
  const [found] = await database.call<Found>(READ, [])
  if (!found) throw new Error('no views found in the database')
  const views = found.views.map(({ name, comment, columns }) => {
    const shown = columns
      .filter(column => !isHidden(column))
      .map(column => `      ${column.name}: ${schemaOf(column, found)},`)
    const hidden = columns.filter(isHidden).map(column => `${column.name}: '${column.type}'`)
    return `  ${name}: {
    comment: ${quote(comment)},
    hidden: { ${hidden.join(', ')} },
    columns: {
${shown.join('\n')}
    },
  },`
  })
  const types = Object.entries(found.composites).map(
    ([name, fields]) =>
      `  ${name}: { ${fields
        .filter(field => !isHidden(field))
        .map(field => `${field.name}: ${schemaOf(field, found)}`)
        .join(', ')} },`,
  )
  return `/** Written by \`bun run generate-types\` from the views in sql/api. Hidden columns carry cursors and filters. */
import { Type as t } from '@sinclair/typebox'
import { nullable, stringUnion } from './schemas.ts'

/** Composite types, which columns or results of functions have. */
export const SQL_TYPE_SCHEMAS = {
${types.join('\n')}
} as const

export const SQL_VIEWS = {
${views.join('\n')}
} as const
`
}

const isHidden = ({ name }: Typed) => name.startsWith('_')

function schemaOf({ type, comment }: Typed, found: Found): string {
  const schema = schemaOfType(type, comment, found)
  if (/(^| )Left out: /.test(comment)) return `t.Optional(${schema})`
  return /(^| )Null: /.test(comment) ? `nullable(${schema})` : schema
}

/** JSON types of PostgreSQL types. */
const PLAIN: Readonly<Record<string, string>> = {
  text: 'String',
  uuid: 'String',
  date: 'String',
  bytea: 'String',
  'timestamp with time zone': 'String',
  boolean: 'Boolean',
  smallint: 'Integer',
  integer: 'Integer',
  bigint: 'Integer',
  real: 'Number',
  numeric: 'Number',
  'double precision': 'Number',
}

function schemaOfType(type: string, description: string, found: Found, extra = ''): string {
  const options = [extra, description && `description: ${quote(description)}`].filter(Boolean).join(', ')
  const given = options && `{ ${options} }`
  const comma = given && `, ${given}`
  if (type.endsWith('[]')) return `t.Array(${schemaOfType(type.slice(0, -2), '', found)}${comma})`
  if (type === 'jsonb' || type === 'json') return `t.Record(t.String(), t.Unknown()${comma})`
  const plain = PLAIN[type]
  if (plain) return `t.${plain}(${given})`
  const fields = found.composites[type]
  if (fields)
    return `t.Object({ ${fields.map(field => `${field.name}: ${schemaOf(field, found)}`).join(', ')} }${comma})`
  const domain = found.domains[type]
  if (!domain) throw new Error(`no JSON schema for the type ${type}`)
  const choices = [...(domain.check ?? '').matchAll(/'([^']*)'::text/g)].map(([, choice]) => quote(choice ?? ''))
  if (choices.length > 0) return `stringUnion(${choices.join(', ')})`
  const [, least] = />= ([0-9]+)/.exec(domain.check ?? '') ?? []
  const said = [description, domain.comment].filter(Boolean).join(' ')
  return schemaOfType(domain.base, said, found, least && `minimum: ${least}`)
}

const quote = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`
