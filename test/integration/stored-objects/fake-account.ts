/** One account at OpenAI or Anthropic, shared by all its projects: it returns every object to every caller with the account's key. */

interface SentRequest {
  method: string
  path: string
  key: string | null
  body: unknown
}

export interface FakeAccount {
  baseUrl: string
  requests: SentRequest[]
  reset(): void
  /** Changes an object outside the API. */
  change(id: string, fields: object): void
  stop(): Promise<void>
}

const COMPACTED = {
  id: 'resp_compacted1',
  object: 'response.compaction',
  output: [{ id: 'cmp_1', type: 'compaction', encrypted_content: 'packed' }],
  usage: {
    ...{ input_tokens: 1_000_000, output_tokens: 100_000, total_tokens: 1_100_000 },
    ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
  },
}

const RESPONSE = {
  object: 'response',
  status: 'completed',
  output: [
    {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
    },
  ],
  usage: COMPACTED.usage,
}

type StoredObject = Record<string, unknown> & { id: string }

export function startFakeAccount(): FakeAccount {
  const requests: SentRequest[] = []
  const objects = new Map<string, StoredObject>()
  let serial = 0

  function make(collection: string, fields: object): StoredObject {
    const made = {
      object: collection.replace(/s$/, ''),
      ...fields,
      ...(collection === 'responses' && RESPONSE),
      id: `${collection}_${++serial}${Date.now()}`,
    }
    objects.set(made.id, made)
    return made
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const { method, headers } = request
      const isJson = headers.get('content-type')?.startsWith('application/json') ?? false
      const text = await request.text()
      const body = isJson && text !== '' ? JSON.parse(text) : null
      requests.push({ method, path: pathname, key: headers.get('authorization'), body })
      const [, , collection = '', id, ...rest] = pathname.replace('/messages/', '/').split('/')
      if (pathname === '/v1/responses/compact') return Response.json(COMPACTED)
      if (id === undefined)
        return Response.json(method === 'POST' ? make(collection, body ?? {}) : [...objects.values()])
      const object = objects.get(id)
      if (!object) return Response.json({ error: { message: 'Unknown' } }, { status: 404 })
      if (rest.at(-1) === 'content') return new Response('bytes of content')
      if (rest[0] === 'remix') return Response.json(make(collection, { remixed_from_video_id: id }))
      if (rest[0] === 'complete') return Response.json({ ...object, file: { ...make('files', {}), object: 'file' } })
      if (rest.length > 0) return Response.json({ object: 'part', id: `inner_${++serial}` })
      if (method === 'DELETE') {
        objects.delete(id)
        return Response.json({ id, deleted: true })
      }
      return Response.json(object)
    },
  })

  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    requests,
    reset() {
      requests.length = 0
    },
    change: (id, fields) => void Object.assign(objects.get(id) ?? {}, fields),
    stop: () => server.stop(true),
  }
}
