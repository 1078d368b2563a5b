/**
 * Claims the ids that a provider created for a response (the response, its items, containers, audio) for the project, before its client gets
 * them. Ids of background responses and batches are claimed when their content is read.
 */
import type { Catalogue } from '../../catalogue/catalogue.ts'
import { createYielder } from '../../event-loop/work-scheduler.ts'
import { MAX_MAIN_THREAD_BYTES } from '../../event-loop/worker-pool.ts'
import type { Endpoint } from '../../formats/endpoint.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import { transformBytes } from '../../formats/sse/split-events.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { callFunction } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import { storageProviderName } from '../../postgres/stored-objects.ts'
import { PROVIDER_KEY_HEADER } from '../../providers/attempts.ts'
import type { Provider } from '../../providers/upstream.ts'
import type { ProxyResponse } from '../request/request.ts'

const ID = /"(?:id|container_id|file_id)"\s*:\s*"([\w-]{1,256})"/g
/** Bytes of the previous chunk that are searched again, so that an id across two chunks is found. */
const OVERLAP_BYTES = 320

interface ClaimContext {
  query: { endpoint: Endpoint; body: JsonObject }
  resolvedKey: Pick<ResolvedKey, 'project_id'>
  provider: Pick<Provider, 'name' | 'isShared' | 'pricedAs' | 'nativeEndpoints'> | null
}

/** Claims ids only if the provider, or a fallback, supports the endpoint natively: the proxy stores the responses that it translates. */
export async function claimCreatedIds(
  { query, resolvedKey, provider }: ClaimContext,
  response: ProxyResponse,
  { database, catalogue }: { database: Database; catalogue: Pick<Catalogue, 'vendors'> },
): Promise<ProxyResponse> {
  const {
    'x-proxy-cache': cached,
    'x-proxy-provider': responseProvider,
    [PROVIDER_KEY_HEADER]: key = null,
  } = response.headers
  if (response.status !== 200 || cached !== 'MISS') return response
  const requestedProvider = responseProvider === provider?.name ? provider : null
  const isNative = query.endpoint === 'chat' || (requestedProvider?.nativeEndpoints?.includes(query.endpoint) ?? true)
  const storageProvider = storageProviderNameOf(
    requestedProvider ?? { pricedAs: catalogue.vendors.find(responseProvider ?? '')?.name ?? null },
    key,
  )
  if (!storageProvider || !isNative) return response
  return { ...response, body: await claimIdsInBody(response.body, { database, resolvedKey, storageProvider }) }
}

/** Returns null under a shared key: requests cannot refer to its objects, so they need no claim. `key` is the name of the provider key, if it has one. */
export function storageProviderNameOf(
  { isShared, pricedAs }: Pick<Provider, 'isShared' | 'pricedAs'>,
  key: string | null,
): string | null {
  return isShared || pricedAs === null ? null : storageProviderName(pricedAs, key)
}

/** Returns the body. Its ids are claimed for the project as it is read; ids of other projects are unchanged. */
export async function claimIdsInBody(
  body: ProxyResponse['body'],
  {
    database,
    resolvedKey,
    storageProvider,
  }: Pick<ClaimContext, 'resolvedKey'> & { database: Database; storageProvider: string | null },
): Promise<ProxyResponse['body']> {
  if (storageProvider === null) return body
  const claimed = new Set<string>()
  let overlap = ''

  async function claimChunk(bytes: Uint8Array): Promise<void> {
    const text = overlap + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
    overlap = text.slice(-OVERLAP_BYTES)
    // raw text: an id with JSON escapes is missed; it belongs to the first project that refers to it.
    const found = Array.from(text.matchAll(ID), ([, id = '']) => id).filter(id => !claimed.has(id))
    if (found.length === 0) return
    for (const id of found) claimed.add(id)
    // An id that could not be claimed belongs to the first project that refers to it.
    const claim = { of_project: resolvedKey.project_id, of_provider: storageProvider as string, ids: found }
    await callFunction(database, 'claim_created_ids', claim).catch(() => {})
  }

  if (body instanceof ReadableStream)
    return transformBytes(body, async read => {
      if (read) await claimChunk(read)
      return read ?? NO_BYTES
    })
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const yieldIfDue = createYielder()
  for (let at = 0; at < bytes.length; at += MAX_MAIN_THREAD_BYTES) {
    await claimChunk(bytes.subarray(at, at + MAX_MAIN_THREAD_BYTES))
    await yieldIfDue()
  }
  return body
}

const NO_BYTES = new Uint8Array(0)
