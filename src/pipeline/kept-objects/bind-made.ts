/** Binds what a provider keeps of an answer (the response, its items, containers, sounds) to the project, before its client learns the ids. */
import { AGGREGATOR } from '../../catalogue/catalogue.ts'
import { LONGEST_ON_LOOP } from '../../event-loop/off-loop.ts'
import { createEventSplitter } from '../../formats/sse/split-events.ts'
import type { JsonObject } from '../../json/canonical.ts'
import type { Account } from '../../postgres/admit.ts'
import type { Database } from '../../postgres/database.ts'
import { bindIds } from '../../postgres/kept-objects.ts'
import type { Endpoint, Provider } from '../../providers/upstream.ts'
import type { ProxyResponse } from '../request.ts'

const ID = /"(?:id|container_id)"\s*:\s*"([\w-]{1,256})"/g

interface Asked {
  query: { endpoint: Endpoint; body: JsonObject }
  account: Pick<Account, 'project_id'>
  provider: Pick<Provider, 'name' | 'kind' | 'pricedAs' | 'has'> | null
}

/**
 * For a provider that speaks the endpoint itself: what the proxy translates, the proxy keeps. Under a key that projects share nothing can be
 * named again, so nothing is bound.
 */
export async function bindMade(
  { query, account, provider }: Asked,
  response: ProxyResponse,
  database: Database,
): Promise<ProxyResponse> {
  const { endpoint } = query
  const speaksIt = endpoint === 'chat' || (provider?.has?.includes(endpoint) ?? true)
  const { 'x-proxy-cache': cached, 'x-proxy-provider': answeredBy } = response.headers
  const isNew = response.status === 200 && cached === 'MISS' && answeredBy === provider?.name
  const keeper = provider?.kind === AGGREGATOR ? null : (provider?.pricedAs ?? null)
  if (keeper === null || !speaksIt || !isNew) return response
  const bound = new Set<string>()

  async function bind(bytes: Uint8Array): Promise<void> {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, LONGEST_ON_LOOP)).toString('latin1')
    const made = [...text.matchAll(ID)].map(([, id = '']) => id).filter(id => !bound.has(id))
    if (made.length === 0) return
    for (const id of made) bound.add(id)
    // What is not bound now belongs to the first project that names it.
    await bindIds(database, account.project_id, keeper as string, made).catch(() => {})
  }

  if (response.body instanceof ReadableStream) return { ...response, body: bindEvents(response.body, bind) }
  await bind(typeof response.body === 'string' ? Buffer.from(response.body) : response.body)
  return response
}

/** Passes a stream on, event by event. */
function bindEvents(
  stream: ReadableStream<Uint8Array>,
  bind: (event: Uint8Array) => Promise<void>,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader()
  const splitter = createEventSplitter()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read()
          const events = done ? [splitter.end()] : splitter.push(value)
          const bytes = Buffer.concat(events)
          if (bytes.length > 0) {
            await bind(bytes)
            controller.enqueue(bytes)
          }
          if (done) return controller.close()
          if (bytes.length > 0) return
        }
      },
      cancel: reason => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
