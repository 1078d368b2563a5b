/**
 * Measures `import litellm` as a process: `bun scripts/bench/import.ts --keys 10000 [--runs 3]`. A made-up company is imported from a
 * database of the server at DATABASE_URL into a new one there, and into an embedded one; each further run changes nothing.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createCompany } from '../../test/harness/litellm-company.ts'
import { killWithParent } from './processes.ts'
import { prepareStores, withDatabase } from './stores.ts'

const { values } = parseArgs({
  options: { keys: { type: 'string', default: '10000' }, runs: { type: 'string', default: '3' } },
})
const SCHEMA = 'litellm'
const CONFIG = fileURLToPath(new URL('../../test/fixtures/litellm/config.yaml', import.meta.url))

const source = await prepareStores()
const target = await prepareStores()
const dataDir = await mkdtemp(join(tmpdir(), 'model-proxy-bench-'))
try {
  const company = await createCompany(Number(values.keys), SCHEMA)
  await withDatabase(source.environment.DATABASE_URL, database => database.runScript(company))
  const common = {
    LITELLM_DATABASE_URL: `${source.environment.DATABASE_URL}?schema=${SCHEMA}`,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  }
  const embedded = { ...common, DATABASE_URL: '', DATA_DIR: dataDir, EMBEDDED_PG_PORT: '0' }
  await measure('PostgreSQL', { ...common, DATABASE_URL: target.environment.DATABASE_URL })
  await run(['migrate'], embedded)
  await measure('embedded', embedded)
} finally {
  await Promise.all([source.drop(), target.drop(), rm(dataDir, { recursive: true, force: true })])
}

async function measure(name: string, environment: Record<string, string>): Promise<void> {
  for (let n = 1; n <= Number(values.runs); n++) {
    const startedAtMs = performance.now()
    const output = await run(['import', 'litellm', '--config', CONFIG], environment)
    const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1)
    const counts = output.slice(output.indexOf('\nImported:')).replace(/\s*\n\s*/g, ' ')
    process.stdout.write(`${name}, run ${n}: ${seconds} s.${counts}\n`)
  }
}

async function run(args: readonly string[], environment: Record<string, string>): Promise<string> {
  const child = Bun.spawn(killWithParent([process.execPath, 'src/process/server.ts', ...args]), {
    env: { ...process.env, ...environment },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const output = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`${args.join(' ')} failed`)
  return output
}
