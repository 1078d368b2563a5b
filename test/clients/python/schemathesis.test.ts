/** Tests the admin API against its own description with schemathesis, with real ids, in about 5,000 requests. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createInProcessStore } from '../../../src/stores/in-process-store.ts'
import { type DescribedOperation, listOperations } from '../../harness/description.ts'
import { TEST_ENCRYPTION_KEY } from '../../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'
import { openSharedEmbedded } from '../../harness/shared-embedded.ts'
import { type Everything, makeEverything } from './one-of-everything.ts'
import { preparePython } from './prepare-python.ts'

const prepared = await preparePython()

const ARGUMENTS = [
  ...['--phases', 'coverage,fuzzing', '-n', '1', '--continue-on-failure'],
  ...['--warnings', 'off', '--no-color', '--report', 'har', '--report-har-path', 'report.har'],
  // SQL rejects some values that the description allows, such as a name that exists already or a sum that is too large.
  ...['--exclude-checks', 'positive_data_acceptance'],
]
const SEED = process.env.TEST_SEED === 'random' ? [] : ['--seed', '1']

/** Writes the parameters of each operation, with ids of existing objects. */
function writeConfig(operations: DescribedOperation[], { stays, goes, archived }: Everything): string {
  return operations
    .flatMap(({ method, path, operation }) => {
      const ids = path.endsWith('/archive') ? archived : method === 'DELETE' ? goes : stays
      const isEverybodys = path.startsWith('/v1/organization/') && !path.includes('{project_id}')
      const given = (operation.parameters ?? []).flatMap((parameter: { name: string; in: string }) => {
        // Of query parameters, only the project is set; filters are generated.
        if (parameter.in === 'query' && parameter.name !== 'project_id') return []
        const id = (isEverybodys ? ids[`organization ${parameter.name}`] : undefined) ?? ids[parameter.name]
        return id === undefined ? [] : [`"${parameter.in}.${parameter.name}" = "${id}"`]
      })
      return given.length === 0
        ? []
        : ['[[operations]]', `include-name = "${method} ${path}"`, `parameters = { ${given.join(', ')} }`]
    })
    .join('\n')
}

/**
 * Operations that schemathesis calls with real ids, but never with values that a 200 requires. The tests of test/integration/admin cover
 * them.
 */
const OTHERWISE_TESTED: Record<string, string> = {
  'POST /v1/organization/projects/{project_id}': 'its body names a plan',
  'POST /v1/organization/projects/{project_id}/rate_limits/{rate_limit_id}': 'it is always refused',
  'POST /v1/organization/projects/{project_id}/service_accounts': 'keys have the same made-up names by then',
  'POST /v1/organization/users': 'the same made-up people are invited by then',
  'GET /v1/requests/{request_id}/content': 'the text is not kept',
  'POST /v1/organization/vendors': 'its body names columns of the table',
  'POST /v1/requests/{request_id}/settle': 'its cost is not estimated',
  'GET /v1/cache/entries/{entry_id}': 'purged by another operation',
  'DELETE /v1/cache/entries/{entry_id}': 'purged by another operation',
  'GET /v1/cache/entries/{entry_id}/content': 'purged by another operation',
  'POST /v1/cache/verdicts': 'its body names a match',
  'DELETE /v1/cache/verdicts/{verdict_id}': 'there is none',
  'POST /v1/organization/projects/{project_id}/api_keys/{key_id}/restore': 'its key is active',
  'POST /dashboard/api/login': 'its body has a password',
  'POST /dashboard/api/password-reset': 'no mail server is set up',
  'POST /dashboard/api/invitation': 'a made-up password is a weak one',
  'GET /dashboard/api/oidc': 'for browsers',
  'GET /dashboard/api/oidc/callback': 'for browsers',
  'DELETE /dashboard/api/sessions/{session_id}': 'takes a login',
  'POST /dashboard/api/playground-key': 'takes a login',
  'POST /dashboard/api/password': 'takes a login',
}

interface Har {
  log: { entries: { request: { method: string; url: string }; response: { status: number } }[] }
}

describe.skipIf('missing' in prepared)(
  'missing' in prepared ? `schemathesis: ${prepared.missing}` : 'schemathesis',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'schemathesis-'))
    let proxy: TestProxy
    beforeAll(async () => {
      const stores = {
        database: await openSharedEmbedded(),
        store: createInProcessStore(),
        databaseUrl: null,
        redisUrl: null,
      }
      proxy = await startProxy({ dashboard: true, stores, environment: { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY } })
    })
    afterAll(async () => {
      await proxy.stop()
      rmSync(folder, { recursive: true })
    })

    test('every operation behaves as described, and is reached', async () => {
      const operations = await listOperations()
      const everything = await makeEverything(proxy)
      writeFileSync(join(folder, 'schemathesis.toml'), writeConfig(operations, everything))
      const { python, environment } = prepared as Exclude<typeof prepared, { missing: string }>
      const authorization = ['-H', `Authorization: Bearer ${everything.adminKey}`]
      const command = [python, '-m', 'schemathesis.cli', 'run', `${proxy.rootUrl}/openapi.json`, ...authorization]
      const child = Bun.spawn([...command, ...ARGUMENTS, ...SEED], {
        cwd: folder,
        env: { ...process.env, ...environment },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [out, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
      if ((await child.exited) !== 0) throw new Error(`${out}\n${complaint}`)
      const { log }: Har = JSON.parse(readFileSync(join(folder, 'report.har'), 'utf8'))
      const done = log.entries.filter(({ response }) => response.status === 200)
      const isDone = ({ method, path }: DescribedOperation) => {
        const address = new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)
        return done.some(({ request }) => request.method === method && address.test(new URL(request.url).pathname))
      }
      const never = operations.filter(operation => !isDone(operation)).map(({ method, path }) => `${method} ${path}`)
      expect(never.filter(name => !(name in OTHERWISE_TESTED))).toEqual([])
      expect(log.entries.length).toBeGreaterThan(1_000)
    }, 400_000)
  },
)
