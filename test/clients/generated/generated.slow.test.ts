/** A client generated from the admin API's description. Its types compile, and its calls work. */
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { describeOnce } from '../../harness/backends.ts'
import { readDescription } from '../../harness/description.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { createTemporaryDirectory } from '../../harness/temporary-directory.ts'
import { addUser, issueAdminKey } from '../../integration/admin/people.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))

const PROGRAM = `
import createClient from 'openapi-fetch'
import type { components, paths } from './described.ts'

declare const process: { env: Record<string, string> }
const headers = { authorization: 'Bearer ' + process.env.ADMIN_KEY }
const client = createClient<paths>({ baseUrl: process.env.ROOT!, headers })

const made = await client.POST('/v1/organization/projects', { body: { name: 'generated' } })
if (made.error) throw new Error(made.error.error.message)
const project: components['schemas']['Project'] = made.data
const path = { project_id: project.id }
const key = await client.POST('/v1/organization/projects/{project_id}/api_keys', {
  params: { path },
  body: { name: 'ci', type: 'test' },
})
const value: string = key.data!.value
const keys = await client.GET('/v1/organization/projects/{project_id}/api_keys', { params: { path, query: { limit: 5 } } })
const states: ('active' | 'expired' | 'deactivated')[] = keys.data!.data.map(each => each.state)
const usage = await client.GET('/v1/usage', { params: { query: { start_time: 0, end_time: 1, width: 'day' } } })
const rate: number | null = usage.data!.totals.hit_rate
const missing = await client.GET('/v1/organization/projects/{project_id}', { params: { path: { project_id: 'proj_999999' } } })
const code: string = missing.error!.error.code
console.log(JSON.stringify({ name: project.name, value: value.slice(0, 9), states, rate, status: missing.response.status, code }))
`

describeOnce('a generated client', backend => {
  const proxy = duringTests(() => startProxy({ dashboard: true, stores: backend.open() }))
  let folder: string

  async function run(command: string[], environment: Record<string, string> = {}) {
    const child = Bun.spawn(command, {
      cwd: folder,
      env: { ...process.env, ...environment },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { code: await child.exited, out, err }
  }

  async function checkTypes(program: string) {
    await Bun.write(join(folder, 'program.ts'), program)
    const options = [
      '--strict',
      '--module',
      'preserve',
      '--target',
      'esnext',
      '--noEmit',
      '--allowImportingTsExtensions',
      '--skipLibCheck',
    ]
    return run(['node_modules/.bin/tsc', ...options, 'program.ts'])
  }

  beforeAll(async () => {
    folder = createTemporaryDirectory()
    for (const file of ['package.json', 'bun.lock']) await copyFile(join(HERE, file), join(folder, file))
    expect(await run([process.execPath, 'install', '--frozen-lockfile'])).toMatchObject({ code: 0 })
    await Bun.write(join(folder, 'described.json'), JSON.stringify(await readDescription()))
    const generated = await run(['node_modules/.bin/openapi-typescript', 'described.json', '-o', 'described.ts'])
    expect(generated).toMatchObject({ code: 0 })
  })

  test('has the types of requests and responses, and works', async () => {
    expect(await checkTypes(PROGRAM)).toMatchObject({ code: 0, out: '' })
    await addUser(proxy, 'root@example.org', 'owner')
    const ADMIN_KEY = await issueAdminKey(proxy, 'root@example.org')
    const ran = await run([process.execPath, 'program.ts'], { ADMIN_KEY, ROOT: proxy.rootUrl })
    expect([ran.code, ran.err]).toEqual([0, ''])
    expect(JSON.parse(ran.out)).toEqual({
      name: 'generated',
      value: 'lgw_test_',
      states: ['active'],
      rate: null,
      status: 404,
      code: expect.any(String),
    })
  })

  test.each([
    ['each.state', 'each.colour'],
    ["type: 'test'", "type: 'other'"],
    ['const rate: number | null', 'const rate: number'],
    ['key.data!.value', 'keys.data!.data[0].value'],
  ])('rejects what is not described: %s', async (valid, wrong) => {
    const { code, out } = await checkTypes(PROGRAM.replace(valid, wrong))
    expect([code, out]).toEqual([2, expect.stringContaining('error TS')])
  })
})
