/** Writes the list of all operations of the admin API: the rows of each file in src/admin/tables, `BUDGETS` of `budgets.ts`. */
import { basename } from 'node:path'

const FOLDER = new URL('../../src/admin/tables/', import.meta.url)

export async function listOperations(): Promise<string> {
  const files = (await Array.fromAsync(new Bun.Glob('*.ts').scan({ cwd: FOLDER.pathname }))).sort()
  const tables = files.map(file => ({ file, rows: basename(file, '.ts').replaceAll('-', '_').toUpperCase() }))
  return `/** Written by \`bun run generate-types\`: the rows of all tables. */
${tables.map(({ file, rows }) => `import { ${rows} } from './tables/${file}'`).join('\n')}

export const OPERATIONS = [
${tables.map(({ rows }) => `  ...${rows},`).join('\n')}
]
`
}
