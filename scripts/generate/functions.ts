/** Generates TypeScript descriptions of the SQL functions that TypeScript calls, from pg_proc: parameters, result and comment. */
import type { Database } from '../../src/postgres/database.ts'

interface FunctionRow {
  name: string
  comment: string
  reads: boolean
  /** Parameters in order: name, type, and whether it has a default. */
  takes: [string, string, boolean][]
  /** Names and types of the returned columns; null for a single value. */
  gives: [string, string][] | null
  /** The type of a single returned value. */
  value: string
}

/** Excludes functions of triggers and extensions, and functions with parameters that only SQL has: rows, vectors. */
const READ = `
with functions as (
    select p.*, array_length(p.proargtypes, 1) as taken, t.typrelid
    from pg_proc p
    join pg_type t on t.oid = p.prorettype
    where p.pronamespace = 'model_proxy'::regnamespace
        and p.prokind = 'f'
        and p.prorettype <> 'trigger'::regtype
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
        and not exists (
            select
            from unnest(p.proargtypes) a (oid)
            join pg_type x on x.oid = a.oid
            where x.typnamespace <> 'pg_catalog'::regnamespace
        )
)
select
    f.proname as name,
    coalesce(obj_description(f.oid), '') as comment,
    f.provolatile <> 'v' as reads,
    coalesce((
        select json_agg(json_build_array(f.proargnames[i], replace(format_type(f.proargtypes[i - 1], null), 'timestamp with time zone', 'timestamptz'), i > coalesce(f.taken, 0) - f.pronargdefaults) order by i)
        from generate_series(1, f.taken) i
    ), '[]') as takes,
    case
        when f.proallargtypes is not null then (
            select json_agg(json_build_array(f.proargnames[i], replace(format_type(f.proallargtypes[i], null), 'timestamp with time zone', 'timestamptz')) order by i)
            from generate_subscripts(f.proallargtypes, 1) i
            where f.proargmodes[i] in ('t', 'o')
        )
        when f.typrelid <> 0 then (
            select json_agg(json_build_array(a.attname, replace(format_type(a.atttypid, null), 'timestamp with time zone', 'timestamptz') || case when a.attnotnull or c.relkind <> 'r' and coalesce(col_description(c.oid, a.attnum), '') !~ '(^| )Null: ' then '' else '?' end) order by a.attnum)
            from pg_attribute a
            join pg_class c on c.oid = a.attrelid
            where a.attrelid = f.typrelid and a.attnum > 0 and not a.attisdropped
        )
        when f.proretset then json_build_array(json_build_array(f.proname, format_type(f.prorettype, null)))
    end as gives,
    replace(format_type(f.prorettype, null), 'timestamp with time zone', 'timestamptz') as value
from functions f
order by f.proname collate "C"`

/** Each domain with its base type, or with its allowed values. */
const READ_DOMAINS = `
select t.typname as name, format_type(t.typbasetype, null) as base, (
    select string_agg(word[1], '|' order by place)
    from pg_constraint k, regexp_matches(pg_get_constraintdef(k.oid), '''([^'']*)''::text', 'g') with ordinality as w (word, place)
    where k.contypid = t.oid
) as words
from pg_type t
where t.typnamespace = 'model_proxy'::regnamespace and t.typtype = 'd'`

export async function describeFunctions(database: Pick<Database, 'call'>): Promise<string> {
  const rows = await database.call<FunctionRow>(READ, [])
  const domains = await database.call<{ name: string; base: string; words: string | null }>(READ_DOMAINS, [])
  const plain = new Map(domains.map(({ name, base, words }) => [name, words ?? base]))
  const called = await findQuotedNames()
  const described = rows.map(row => ({ name: row.name, text: describe(withoutDomains(row, plain)) }))
  return `/** Written by \`bun run generate-types\` from the functions in sql/ that TypeScript calls: what each takes and gives. \`?\` after a type: may be null; \`=\`: has a default; \`|\` between words: one of them. */
export const SQL_FUNCTIONS = {
${described.flatMap(({ name, text }) => (called.has(name) ? text : [])).join('\n')}
} as const
`
}

/** Finds all names in single quotes. Functions are called by such a name; those that only SQL calls are omitted. */
async function findQuotedNames(): Promise<ReadonlySet<string>> {
  const cwd = new URL('../../', import.meta.url).pathname
  const files = await Array.fromAsync(new Bun.Glob('{src,scripts,test}/**/*.ts').scan({ cwd }))
  const written = files.filter(file => !/generated\.ts$|node_modules/.test(file))
  const texts = await Promise.all(written.map(file => Bun.file(`${cwd}${file}`).text()))
  return new Set(texts.flatMap(text => text.match(/(?<=')\w+(?=')/g) ?? []))
}

/** Replaces domains in results only: a parameter is cast to its domain. */
function withoutDomains({ gives, value, ...row }: FunctionRow, plain: ReadonlyMap<string, string>): FunctionRow {
  const replace = (type: string) => type.replace(/^\w+/, name => plain.get(name) ?? name)
  return { ...row, gives: gives?.map(([name, type]) => [name, replace(type)]) ?? null, value: replace(value) }
}

function describe({ name, comment, reads, takes, gives, value }: FunctionRow): string {
  const nullable = namesThatMayBeNull(comment)
  const mark = ([field, type]: [string, string, boolean?]) =>
    nullable.delete(field) && !type.endsWith('?') ? `${type}?` : type
  const taken = takes.map(field => `${field[0]}: '${field[2] ? `${field[1]}=` : mark(field)}'`)
  const given = gives?.map(field => `${field[0]}: '${mark(field)}'`)
  const result = given ? `{ ${given.join(', ')} }` : `'${mark(['result', value])}'`
  for (const [field, , hasDefault] of takes) if (hasDefault) nullable.delete(field)
  if (nullable.size > 0)
    throw new Error(`the comment of ${name}() declares unknown names as nullable: ${[...nullable].join(', ')}`)
  return `  /** ${comment.replaceAll('*/', '*\\/')} */
  ${name}: { ${reads ? 'reads: true, ' : ''}takes: {${taken.length > 0 ? ` ${taken.join(', ')} ` : ''}}, gives: ${result} },`
}

/** Reads a comment's sentence “Null: one, other (why).”: names of columns, of parameters, and \`result\` for a single value. */
function namesThatMayBeNull(comment: string): Set<string> {
  const [, said = ''] = /(?:^|[.;] )Null: ([^.]*)/.exec(comment) ?? []
  return new Set(
    said
      .replace(/\([^)]*\)/g, '')
      .split(/[,;]/)
      .map(name => name.trim())
      .filter(name => name !== ''),
  )
}
