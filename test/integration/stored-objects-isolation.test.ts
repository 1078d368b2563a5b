/** Another project's object is a 404 with the same text at every path and method, although projects share an account at the provider. */
import { beforeAll, expect, test } from 'vitest'
import { type StoredObjectCollection, traitsOf } from '../../src/providers/stored-object-collections.ts'
import { describeBackends } from '../harness/backends.ts'
import { type Answer, readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { COLLECTIONS, listObjectPaths } from '../harness/stored-object-paths.ts'
import { startFakeAccount } from './stored-objects/fake-account.ts'

const MODEL = 'gpt-4o-mini'
const CLAUDE = { model: 'claude-haiku-4-5', max_tokens: 5, messages: [{ role: 'user', content: 'Hi.' }] }
const LINE = { custom_id: '1', method: 'POST', url: '/v1/chat/completions', body: { model: MODEL, messages: [] } }

const ANTHROPIC_HEADERS = { 'anthropic-version': '2023-06-01' }

/** A file is uploaded as a form; a batch names an uploaded file. */
const BODIES: Record<StoredObjectCollection, Record<string, unknown> | 'file' | 'batch'> = {
  files: 'file',
  anthropic_files: 'file',
  batches: 'batch',
  message_batches: { requests: [{ custom_id: 'a', params: CLAUDE }] },
  responses: { model: MODEL, input: 'Hi.' },
  conversations: {},
  vector_stores: { name: 'Manuals' },
  containers: { name: 'Sums' },
  uploads: { filename: 'a.txt', purpose: 'user_data', bytes: 3, mime_type: 'text/plain' },
  videos: { prompt: 'A calico cat' },
}
const NOT_FOUND = {
  fileNotFound: (id: string) => `No such File object: ${id}`,
  batchNotFound: (id: string) => `No batch found with id '${id}'.`,
  responseNotFound: (id: string) =>
    `Response with id '${id}' not found. Responses are stored for a week, for the key that created them, unless the request sets store: false; OpenAI stores those of its own models for projects with their own OpenAI key.`,
  openAiObjectNotFound: (id: string) =>
    `There is no object with id '${id}' in this project: it belongs to another project.`,
}

describeBackends('stored objects of another project', backend => {
  const upstreams = duringTests(startUpstreams)
  const account = duringTests(startFakeAccount)
  const proxy = duringTests(() =>
    startProxy({
      stores: backend.open(),
      environment: { ...upstreams.environment, OPENAI_BASE_URL: account.baseUrl, ANTHROPIC_BASE_URL: account.baseUrl },
    }),
  )
  let mine: string
  let theirs: string

  beforeAll(async () => {
    const [own, other] = [`i-${crypto.randomUUID()}`, `i-${crypto.randomUUID()}`]
    mine = await proxy.createKey({ project: own, type: 'project' })
    theirs = await proxy.createKey({ project: other, type: 'project' })
    for (const project of [own, other])
      for (const vendor of ['openai', 'anthropic'] as const)
        await storeKey(proxy.stores, project, vendor, 'sk-shared-account')
  })

  const headersOf = (name: StoredObjectCollection) => (name === 'anthropic_files' ? ANTHROPIC_HEADERS : {})

  async function bodyFor(key: string, name: StoredObjectCollection): Promise<FormData | string> {
    const body = BODIES[name]
    if (body === 'batch') {
      const file = await send(key, { method: 'POST', path: '/files' }, 'files', await bodyFor(key, 'files'))
      const input_file_id = file.json.id
      return JSON.stringify({ input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' })
    }
    if (body !== 'file') return JSON.stringify(body)
    const form = new FormData()
    form.set('purpose', 'batch')
    form.set('file', new File([JSON.stringify(LINE)], 'in.jsonl'))
    return form
  }

  async function create(key: string, name: StoredObjectCollection): Promise<string> {
    const answer = await send(key, { method: 'POST', path: traitsOf(name).path }, name, await bodyFor(key, name))
    expect(answer.status, answer.text).toBe(200)
    return answer.json.id as string
  }

  /** Every method at every path that names the object, its deletion last. */
  function listRequests(name: StoredObjectCollection, id: string): { method: string; path: string }[] {
    const paths = listObjectPaths(name, id)
    const requests = Object.values(traitsOf(name).actions).flatMap((actions, at) =>
      Object.keys(actions).map(method => ({ method, path: paths[at] ?? '' })),
    )
    const named = requests.filter(({ path }) => path.includes(id))
    const isLast = ({ method, path }: { method: string; path: string }) => method === 'DELETE' && path.endsWith(id)
    return [...named.filter(each => !isLast(each)), ...named.filter(isLast)]
  }

  async function send(
    key: string,
    { method, path }: { method: string; path: string },
    name: StoredObjectCollection,
    body: FormData | string | null = method === 'POST' ? '{}' : null,
  ): Promise<Answer> {
    const headers = new Headers({ ...headersOf(name), authorization: `Bearer ${key}` })
    if (typeof body === 'string') headers.set('content-type', 'application/json')
    return readAnswer(await fetch(proxy.baseUrl + path, { method, headers, body }))
  }

  test.each(COLLECTIONS)('%s are not found at any path or method', async name => {
    const id = await create(mine, name)
    const requests = listRequests(name, id)
    expect(requests.length).toBeGreaterThan(1)
    for (const request of requests) {
      account.requests.length = 0
      const rejected = await send(theirs, request, name)
      expect([request, rejected.status, rejected.json.error.message]).toEqual([
        request,
        404,
        NOT_FOUND[traitsOf(name).notFound](id),
      ])
      expect(account.requests).toEqual([])
      const own = await send(mine, request, name)
      expect([request, own.status]).toEqual([request, 200])
      const path = `/v1${request.path}`
      expect(account.requests.map(asked => ({ method: asked.method, path: asked.path }))).toEqual([
        { ...request, path },
      ])
    }
  })

  test('responses at OpenAI are not found by a client of another vendor', async () => {
    const id = await create(mine, 'responses')
    account.requests.length = 0
    const headers = { ...ANTHROPIC_HEADERS, authorization: `Bearer ${mine}` }
    const answer = await readAnswer(await fetch(`${proxy.baseUrl}/responses/${id}`, { headers }))
    expect([answer.status, answer.json.error.message]).toEqual([404, NOT_FOUND.responseNotFound(id)])
    expect(account.requests).toEqual([])
  })

  const CREATED = COLLECTIONS.flatMap(name => {
    const { creates } = traitsOf(name).actions['']?.POST ?? {}
    return creates ? [{ name, ...creates }] : []
  })
  test.each(CREATED)('$name that cannot be recorded are undone by $method $subpath', async ({ name, ...undo }) => {
    await proxy.stores.database.runScript(`
      create function model_proxy.reject_object() returns trigger language plpgsql as
        $$ begin raise exception 'rejected by the test'; end $$;
      create trigger reject_object before insert on model_proxy.stored_objects for each row
        when (new.collection = '${name}') execute function model_proxy.reject_object()`)
    try {
      const answer = await send(mine, { method: 'POST', path: traitsOf(name).path }, name, await bodyFor(mine, name))
      expect(answer.status, answer.text).toBe(503)
    } finally {
      await proxy.stores.database.runScript('drop function model_proxy.reject_object() cascade')
    }
    const [created, undone] = account.requests.slice(-2)
    expect(created).toMatchObject({ method: 'POST', path: `/v1${traitsOf(name).path}` })
    expect(undone?.method).toBe(undo.method)
    expect(undone?.path).toMatch(new RegExp(`^/v1${traitsOf(name).path}/\\w+${undo.subpath}$`))
  })
})
