/**
 * Binds what a provider keeps of an answer (the response, its items, containers, sounds) to the project, before its client learns the ids:
 * when it is made, and when it is read where it was made later, in the background or by a batch.
 */
import { AGGREGATOR } from '../../catalogue/catalogue.ts'
import { createYielder } from '../../event-loop/work-scheduler.ts'
import { MAX_MAIN_THREAD_BYTES } from '../../event-loop/worker-pool.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { callFunction } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import { storageProviderName } from '../../postgres/stored-objects.ts'
import { PROVIDER_KEY_HEADER } from '../../providers/balance-keys.ts'
import { DIRECT_PROVIDERS } from '../../providers/model-router.ts'
import type { Endpoint, Provider } from '../../providers/upstream.ts'
import type { ProxyResponse } from '../request/request.ts'

const ID = /"(?:id|container_id|file_id)"\s*:\s*"([\w-]{1,256})"/g
/** Of the piece before, so that an id which is cut in two is found. */
const OVERLAP_BYTES = 320

interface Asked {
  query: { endpoint: Endpoint; body: JsonObject }
  resolvedKey: Pick<ResolvedKey, 'project_id'>
  provider: Pick<Provider, 'name' | 'kind' | 'pricedAs' | 'nativeEndpoints'> | null
}

/** For a provider that speaks the endpoint itself, a fallback too: what the proxy translates, the proxy keeps. */
export async function claimCreatedIds(
  { query, resolvedKey, provider }: Asked,
  response: ProxyResponse,
  database: Database,
): Promise<ProxyResponse> {
  const {
    'x-proxy-cache': cached,
    'x-proxy-provider': answeredBy,
    [PROVIDER_KEY_HEADER]: key = null,
  } = response.headers
  if (response.status !== 200 || cached !== 'MISS') return response
  const asked = answeredBy === provider?.name ? provider : null
  const speaksIt = query.endpoint === 'chat' || (asked?.nativeEndpoints?.includes(query.endpoint) ?? true)
  const keeper = storageProviderNameOf(
    asked ?? { pricedAs: DIRECT_PROVIDERS.find(name => name === answeredBy) ?? null },
    key,
  )
  if (!keeper || !speaksIt) return response
  return { ...response, body: await claimIdsInBody(response.body, { database, resolvedKey, keeper }) }
}

/** Under a key that projects share nothing can be named again, so nothing needs to be bound. `key` is the one that was used, if it has a name. */
export function storageProviderNameOf(
  { kind, pricedAs }: Pick<Provider, 'kind' | 'pricedAs'>,
  key: string | null,
): string | null {
  return kind === AGGREGATOR || pricedAs === null ? null : storageProviderName(pricedAs, key)
}

/** Returns the body, whose ids are bound to the project as it is read; those of another project stay its own. */
export async function claimIdsInBody(
  body: ProxyResponse['body'],
  { database, resolvedKey, keeper }: Pick<Asked, 'resolvedKey'> & { database: Database; keeper: string | null },
): Promise<ProxyResponse['body']> {
  if (keeper === null) return body
  const bound = new Set<string>()
  let before = ''

  async function bindPiece(bytes: Uint8Array): Promise<void> {
    const text = before + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
    before = text.slice(-OVERLAP_BYTES)
    // raw text: an id that an escape hides belongs to the first project that names it.
    const found = Array.from(text.matchAll(ID), ([, id = '']) => id).filter(id => !bound.has(id))
    if (found.length === 0) return
    for (const id of found) bound.add(id)
    // What is not bound now belongs to the first project that names it.
    const made = { of_project: resolvedKey.project_id, of_provider: keeper as string, ids: found }
    await callFunction(database, 'claim_created_ids', made).catch(() => {})
  }

  if (body instanceof ReadableStream) return bindStream(body, bindPiece)
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const yieldTurn = createYielder()
  for (let at = 0; at < bytes.length; at += MAX_MAIN_THREAD_BYTES) {
    await bindPiece(bytes.subarray(at, at + MAX_MAIN_THREAD_BYTES))
    await yieldTurn()
  }
  return body
}

function bindStream(
  stream: ReadableStream<Uint8Array>,
  bind: (bytes: Uint8Array) => Promise<void>,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        await bind(value)
        controller.enqueue(value)
      },
      cancel: reason => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
