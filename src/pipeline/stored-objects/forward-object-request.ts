/** Forwards a request about one of the project's files or batches to its provider: to read, download, cancel or delete it. */
import { ClientDisconnected, createError, ProxyError } from '../../errors/errors.ts'
import { onAbort } from '../../event-loop/timeouts.ts'
import { parseJsonObject } from '../../formats/json/canonical.ts'
import { callFunctionForRow } from '../../postgres/call.ts'
import type { ObjectCollection } from '../../postgres/stored-objects.ts'
import { PROVIDER_KEY_HEADER } from '../../providers/balance-keys.ts'
import { type ClientVendor, COLLECTION_PATHS } from '../../providers/pass-through-operations.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readAllBytes } from '../../providers/read-bytes.ts'
import type { PassThroughRequest, Provider, UpstreamResponse } from '../../providers/upstream.ts'
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import { claimIdsInBody, storageProviderNameOf } from '../ownership/claim-ids.ts'
import type { HttpMethod, ProxyResponse } from '../request/request.ts'
import { toResponseHeaders } from '../response/complete-call.ts'
import { recordBatchResults } from './record-batch-results.ts'
import { BATCH_OUTPUT_PURPOSE, recordObjectState } from './record-object-state.ts'

export interface StoredObjectTarget {
  method: HttpMethod
  collection: ObjectCollection
  id: string
  /** The path below the object, with a leading slash; '' for the object itself. */
  part: string
  /** The vendor whose API the client uses, if known. Objects at other providers are then not found. */
  vendor?: ClientVendor | undefined
}

export async function forwardObjectRequest(
  { request, resolvedKey }: Pick<RequestContext, 'request' | 'resolvedKey'>,
  { method, collection, id, part, vendor }: StoredObjectTarget,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const objectId = { of_project: resolvedKey.project_id, of_collection: collection, object_id: id }
  const stored = await callFunctionForRow(stages.database, 'find_stored_object', objectId)
  if (!stored || !isStoredAt(stored, vendor)) throw createObjectNotFoundError(collection, id)
  const provider = throwIfError(
    stages.modelRouter.findStorageProvider(resolvedKey, collection, { providerId: stored.provider }),
  )
  const isResults = part === '/results'
  const isDownload = isResults || part === '/content'
  const upstream = await passThroughTo(provider, {
    method,
    path: `${COLLECTION_PATHS[collection]}/${id}${part}`,
    body: null,
    headers: request.headers,
    hasSideEffects: method !== 'GET',
    isDownload,
    // Results are read to their end, even if the client disconnects.
    signal: isResults ? new AbortController().signal : createDisconnectSignal(request.signal),
  })
  const owner = { request, resolvedKey, provider, storageProvider: stored.provider, collection, id }
  const headers = { ...toResponseHeaders(upstream), 'x-proxy-provider': provider.name }
  if (isDownload && upstream.status < 400) {
    // The output of a batch may contain ids of new responses.
    const hasResponses = isResults || stored.purpose === BATCH_OUTPUT_PURPOSE
    const claim = {
      database: stages.database,
      resolvedKey,
      keeper: hasResponses ? storageProviderNameOf(provider, upstream.headers.get(PROVIDER_KEY_HEADER)) : null,
    }
    const body = isResults ? recordBatchResults(upstream.body, owner, stages) : upstream.body
    return { status: upstream.status, headers, body: await claimIdsInBody(body, claim) }
  }
  const text = rewriteResultsUrl(
    new TextDecoder().decode(
      await readAllBytes(upstream.body, provider.name, MAX_PLAIN_RESPONSE_BYTES, request.responseMemory),
    ),
  )
  // A file's content can expire before the file, so a download does not change the recorded state.
  if (!isDownload) await recordObjectState({ ...owner, status: upstream.status, text }, stages)
  return { status: upstream.status, headers, body: text }
}

/** Replaces a message batch's `results_url` by a path of the proxy, at which clients then request the results. */
function rewriteResultsUrl(text: string): string {
  const object = parseJsonObject(text)
  if (object?.type !== 'message_batch' || typeof object.results_url !== 'string') return text
  return JSON.stringify({ ...object, results_url: `/v1${COLLECTION_PATHS.message_batches}/${object.id}/results` })
}

/** Returns a signal that is aborted with ClientDisconnected when the client disconnects. */
export function createDisconnectSignal(signal: AbortSignal): AbortSignal {
  const controller = new AbortController()
  onAbort(signal, () => controller.abort(new ClientDisconnected()))
  return controller.signal
}

/** Whether the object is stored at the vendor whose API the client uses. True if the vendor is unknown. */
export function isStoredAt({ provider }: { provider: string }, vendor?: ClientVendor): boolean {
  return vendor === undefined || provider.split('/')[0] === vendor
}

/** Creates OpenAI's 404. Another project's object gets the same error, so that ids cannot be probed. */
export function createObjectNotFoundError(collection: ObjectCollection, id: string): ProxyError {
  const isFile = COLLECTION_PATHS[collection] === COLLECTION_PATHS.files
  return isFile ? createError('fileNotFound', { id }) : createError('batchNotFound', { id })
}

export function passThroughTo({ name, passThrough }: Provider, request: PassThroughRequest): Promise<UpstreamResponse> {
  if (!passThrough) throw new Error(`provider ${name} has no pass-through endpoints`)
  return passThrough(request)
}

/** Returns the provider, or throws the error. */
export function throwIfError(result: Provider | ProxyError): Provider {
  if (result instanceof ProxyError) throw result
  return result
}
