/** Sends a request about stored objects to the provider that stores them. */
import { actionsOf, type StoredObjectPath, traitsOf } from '../../providers/stored-object-collections.ts'
import type { PassThroughBody, Provider, RecordAttempt, UpstreamResponse } from '../../providers/upstream.ts'
import type { ProxyRequest } from '../request/request.ts'

interface StorageOptions {
  body?: PassThroughBody | null
  /** By default, the request goes on when its client disconnects. */
  signal?: AbortSignal
  /** Whether the request is not retried. */
  hasSideEffects?: boolean
  recordAttempt?: RecordAttempt
}

export function sendToStorage(
  { name, sendStored, passThrough }: Provider,
  { method, headers, search }: Pick<ProxyRequest, 'method' | 'headers' | 'search'>,
  target: StoredObjectPath,
  {
    body = null,
    signal = new AbortController().signal,
    hasSideEffects = method !== 'GET',
    ...sink
  }: StorageOptions = {},
): Promise<UpstreamResponse> {
  const { collection, id, subpath } = target
  const traits = traitsOf(collection)
  const path = id === null ? traits.path : `${traits.path}/${id}${subpath}`
  if (collection === 'responses' && sendStored)
    return sendStored({ method, path, query: search, headers, signal, ...sink })
  if (!passThrough) throw new Error(`provider ${name} has no pass-through endpoints`)
  const isDownload = actionsOf(target)[method]?.isDownload ?? false
  const query = traits.ownership === 'claimed' ? search : ''
  return passThrough({ method, path: path + query, body, headers, hasSideEffects, isDownload, signal, ...sink })
}
