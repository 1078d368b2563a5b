/**
 * Writes the list of all operations of the admin API from the files in src/admin/operations, such as `BUDGET_OPERATIONS` of `budgets.ts`.
 */
import { basename } from 'node:path'

const FOLDER = new URL('../../src/admin/operations/', import.meta.url)

export async function listOperations(): Promise<string> {
  const files = (await Array.fromAsync(new Bun.Glob('*.ts').scan({ cwd: FOLDER.pathname }))).sort()
  const tables = files.map(file => ({
    file,
    rows: `${basename(file, '.ts')
      .replaceAll('-', '_')
      .replace(/(?<=ch)es$|s$/, '')
      .toUpperCase()}_OPERATIONS`,
  }))
  return `/** Written by \`bun run generate-types\`: the rows of all tables. */
${tables.map(({ file, rows }) => `import { ${rows} } from './operations/${file}'`).join('\n')}

export const ADMIN_OPERATIONS = [
${tables.map(({ rows }) => `  ...${rows},`).join('\n')}
]
`
}
