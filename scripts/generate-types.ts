/**
 * Writes the files that are derived from sql/; with --check fails if one is outdated: types of tables and functions, schemas of views and
 * of the request record, constants from seed rows (files of `src/postgres` that end in `.generated.ts`), and sql/schema.txt. Also the list
 * of the admin API's operations, from the files of `src/admin/operations`.
 */
import { fileURLToPath } from 'node:url'
import { generate, getDialect } from 'kysely-codegen'
import { describeSchema, formatSchema } from '../src/postgres/describe-schema.ts'
import { openEmbeddedDatabase } from '../src/postgres/embedded/embedded.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { queriesOf } from '../test/harness/queries.ts'
import { describeFunctions } from './generate/functions.ts'
import { listOperations } from './generate/operations.ts'
import { writeRecordColumns } from './generate/record-columns.ts'
import { describeViews } from './generate/views.ts'

const typesFile = new URL('../src/postgres/types.generated.ts', import.meta.url)
const functionsFile = new URL('../src/postgres/functions.generated.ts', import.meta.url)
const viewsFile = new URL('../src/postgres/admin/views.generated.ts', import.meta.url)
const seedsFile = new URL('../src/postgres/seeds.generated.ts', import.meta.url)
const recordFile = new URL('../src/postgres/usage-record.generated.ts', import.meta.url)
const operationsFile = new URL('../src/admin/operations.generated.ts', import.meta.url)
const schemaFile = new URL('../sql/schema.txt', import.meta.url)
const isCheck = process.argv.includes('--check')
const database = await openEmbeddedDatabase({ directory: null, psql: null })
await migrate(database)
const types = await generate({
  db: queriesOf(database),
  dialect: getDialect('postgres'),
  outFile: null,
  // The types that both database drivers return.
  typeMapping: { int8: 'number', date: 'string' },
  includePattern: 'model_proxy.resolved_keys',
  defaultSchemas: ['model_proxy'],
})

/** Returns the rows of setting_kinds as an interface. */
const DESCRIBE_SETTINGS = `
select
    k.name,
    k.title || ': ' || k.help as meaning,
    case k.type
        when 'choice' then (select string_agg(quote_literal(word), ' | ' order by place) from unnest(k.words) with ordinality w (word, place))
        when 'text' then 'string'
        when 'models' then 'string[]'
        when 'aliases' then 'string[]'
        when 'durations' then 'string[]'
        when 'contexts' then 'string[]'
        else 'number'
    end as type
from setting_kinds k
order by k.name collate "C"`

/** Queries for rows that become constants of the code. */
const SEEDS: Record<string, string> = {
  AUDIT_ACTIONS: `
    select distinct called[1] as action
    from pg_proc p, regexp_matches(p.prosrc, 'perform audit\\(\\s*''([a-z_.]+)''', 'g') called
    where p.pronamespace = 'model_proxy'::regnamespace
    order by 1`,
  AUDIT_KINDS: 'select kind, part, severity, meaning from audit_kinds()',
  END_USER_TABLES: `
    select kind, title, table_name, user_column, cleared,
      case when record is not null then 'row' when num_nonnulls(question, answer, sealed_question, sealed_answer) > 0 then 'text' end as exported
    from end_user_tables
    order by position`,
  WEBHOOK_EVENT_TYPES: 'select kind, area, title, summary, happens, payload from webhook_event_types order by place',
  VENDORS: 'select * from vendors order by place, name',
}

await database.call('set search_path = model_proxy, public', [])
const settings = await database.call<{ name: string; meaning: string; type: string }>(DESCRIBE_SETTINGS, [])
const settingsType = `
/** A project's settings: the rows of setting_kinds. */
export interface ProjectSettings {
${settings.map(({ name, meaning, type }) => `  /** ${meaning} */\n  ${name}: ${type};\n`).join('')}}
`
await writeOrCompare(schemaFile, formatSchema(await describeSchema(database)))
// Writes each comment on one line.
const withComments = types.replace(/\/\*\*\n\s+\* (.*)\n\s+\*\//g, '/** $1 */')
await writeOrCompare(typesFile, withoutNulls(withComments) + settingsType)
await writeOrCompare(functionsFile, await describeFunctions(database))
await writeOrCompare(viewsFile, await describeViews(database))
await writeOrCompare(operationsFile, await listOperations())
await writeOrCompare(recordFile, await writeRecordColumns(database))
const constants = await Promise.all(
  Object.entries(SEEDS).map(async ([name, select]) => {
    const rows = await database.call(select, [])
    return `export const ${name} = [\n${rows.map(row => `  ${JSON.stringify(row)},\n`).join('')}] as const\n`
  }),
)
await writeOrCompare(
  seedsFile,
  `/** Written by \`bun run generate-types\` from rows of sql/seed. */\n\n${constants.join('\n')}`,
)
await database.close()

async function writeOrCompare(file: URL, text: string): Promise<void> {
  if (!isCheck) await Bun.write(file, text)
  else if ((await Bun.file(file).text()) !== text) {
    process.stderr.write(`${fileURLToPath(file)} is out of date: run \`bun run generate-types\`\n`)
    process.exitCode = 1
  }
}

/** The generator declares all columns of a view nullable. The view's comments name those that are. */
function withoutNulls(types: string): string {
  return types.replace(/export interface ResolvedKeys \{.*?\n\}/s, view =>
    view.replace(/(\/\*\* (.*) \*\/\n.*) \| null;/g, (all, column, comment) =>
      /(^| )Null: /.test(comment) ? all : `${column};`,
    ),
  )
}
