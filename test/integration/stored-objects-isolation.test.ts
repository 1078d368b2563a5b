/** Another project's object is a 404 with the same text at every path and method, whoever else uses the same account at the provider. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allowedMethodsOf, resolveTarget } from '../../src/http/paths.ts'
import { describeBackends } from '../harness/backends.ts'
import { type Answer, post, readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey, type Upstreams } from '../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { type KeptStandin, startKeptStandin } from './bound-objects/kept-standin.ts'

const MODEL = 'gpt-4o-mini'
const CLAUDE = { model: 'claude-haiku-4-5', max_tokens: 5, messages: [{ role: 'user', content: 'Hi.' }] }
const LINE = { custom_id: '1', method: 'POST', url: '/v1/chat/completions', body: { model: MODEL, messages: [] } }

interface Creation {
  path: string
  headers?: Record<string, string>
  /** A file is uploaded as a form; a batch names an uploaded file. */
  body: object | 'file' | 'batch'
  notFound: (id: string) => string
}

const fileNotFound = (id: string) => `No such File object: ${id}`
const batchNotFound = (id: string) => `No batch found with id '${id}'.`
const openAiObjectNotFound = (id: string) =>
  `There is no object with id '${id}' in this project: it belongs to another project.`
const responseNotFound = (id: string) => `Response with id '${id}' not found.`

const CREATIONS: Record<string, Creation> = {
  files: { path: '/files', body: 'file', notFound: fileNotFound },
  anthropic_files: {
    path: '/files',
    headers: { 'anthropic-version': '2023-06-01' },
    body: 'file',
    notFound: fileNotFound,
  },
  batches: { path: '/batches', body: 'batch', notFound: batchNotFound },
  message_batches: {
    path: '/messages/batches',
    body: { requests: [{ custom_id: 'a', params: CLAUDE }] },
    notFound: batchNotFound,
  },
  responses: { path: '/responses', body: { model: MODEL, input: 'Hi.' }, notFound: responseNotFound },
  conversations: { path: '/conversations', body: {}, notFound: openAiObjectNotFound },
  vector_stores: { path: '/vector_stores', body: { name: 'Manuals' }, notFound: openAiObjectNotFound },
  containers: { path: '/containers', body: { name: 'Sums' }, notFound: openAiObjectNotFound },
  uploads: {
    path: '/uploads',
    body: { filename: 'a.txt', purpose: 'user_data', bytes: 3, mime_type: 'text/plain' },
    notFound: openAiObjectNotFound,
  },
  videos: { path: '/videos', body: { prompt: 'A calico cat' }, notFound: openAiObjectNotFound },
}

const SUBPATHS = [
  ...['', '/content', '/cancel', '/results', '/input_items', '/items', '/items/inner_1', '/search', '/files'],
  ...['/files/inner_1', '/files/inner_1/content', '/file_batches', '/file_batches/inner_1', '/parts', '/complete'],
  ...['/file_batches/inner_1/cancel', '/file_batches/inner_1/files', '/remix'],
]

describeBackends('stored objects of another project', backend => {
  let upstreams: Upstreams
  let account: KeptStandin
  let proxy: TestProxy
  let mine: string
  let theirs: string

  beforeAll(async () => {
    upstreams = await startUpstreams()
    account = startKeptStandin()
    const environment = {
      ...upstreams.environment,
      OPENAI_BASE_URL: account.baseUrl,
      ANTHROPIC_BASE_URL: account.baseUrl,
    }
    proxy = await startProxy({ stores: await backend.open(), environment })
    const [own, other] = [`i-${crypto.randomUUID()}`, `i-${crypto.randomUUID()}`]
    mine = await proxy.createKey({ project: own, type: 'project' })
    theirs = await proxy.createKey({ project: other, type: 'project' })
    for (const project of [own, other])
      for (const vendor of ['openai', 'anthropic'] as const)
        await storeKey(proxy.stores, project, vendor, 'sk-shared-account')
  })
  afterAll(() => Promise.all([proxy.stop(), upstreams.stop(), account.stop()]))

  async function upload(key: string, headers: Record<string, string>): Promise<Answer> {
    const body = new FormData()
    body.set('purpose', 'batch')
    body.set('file', new File([JSON.stringify(LINE)], 'in.jsonl'))
    const sent = { method: 'POST', headers: { ...headers, authorization: `Bearer ${key}` }, body }
    return readAnswer(await fetch(`${proxy.baseUrl}/files`, sent))
  }

  async function create(key: string, { path, headers = {}, body }: Creation): Promise<string> {
    const batch = async () => ({
      input_file_id: (await upload(key, {})).json.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    })
    const sent = body === 'batch' ? await batch() : body
    const answer =
      sent === 'file' ? await upload(key, headers) : await readAnswer(await post(proxy, key, path, sent, { headers }))
    expect(answer.status, answer.text).toBe(200)
    return answer.json.id as string
  }

  /** The paths below an object with this id, with their methods; the object itself is deleted last. */
  function listRequests({ path }: Creation, id: string): { method: string; path: string }[] {
    const requests = SUBPATHS.flatMap(subpath => {
      const target = resolveTarget(`${path}/${id}${subpath}`)
      return (target ? allowedMethodsOf(target) : []).map(method => ({ method, path: `${path}/${id}${subpath}` }))
    })
    const isLast = (each: { method: string; path: string }) => each.method === 'DELETE' && each.path === `${path}/${id}`
    return [...requests.filter(each => !isLast(each)), ...requests.filter(isLast)]
  }

  const send = async (key: string, { method, path }: { method: string; path: string }, { headers = {} }: Creation) =>
    readAnswer(
      await fetch(proxy.baseUrl + path, {
        method,
        headers: { ...headers, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: '{}' }),
      }),
    )

  test.each(Object.entries(CREATIONS))('%s are not found at any path or method', async (_, creation) => {
    const id = await create(mine, creation)
    const requests = listRequests(creation, id)
    expect(requests.length).toBeGreaterThan(1)
    for (const request of requests) {
      account.requests.length = 0
      const rejected = await send(theirs, request, creation)
      expect([request, rejected.status, rejected.json.error.message]).toEqual([
        request,
        404,
        expect.stringContaining(creation.notFound(id)),
      ])
      expect(account.requests).toEqual([])
      const own = await send(mine, request, creation)
      expect([request, own.status]).toEqual([request, 200])
      expect(account.requests.map(({ method, path }) => ({ method, path }))).toEqual([
        { ...request, path: `/v1${request.path}` },
      ])
    }
  })
})
