/** Asks a provider about one file or batch of the project: the object, its content, its cancellation or its deletion. */
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
  /** The part of the object, with a leading slash; '' for the object itself. */
  part: string
  /** Whose API the client speaks, if that is said: then what another keeps is none of its objects. */
  vendor?: ClientVendor | undefined
}

export async function forwardObjectRequest(
  { request, resolvedKey }: Pick<RequestContext, 'request' | 'resolvedKey'>,
  { method, collection, id, part, vendor }: StoredObjectTarget,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const named = { of_project: resolvedKey.project_id, of_collection: collection, object_id: id }
  const known = await callFunctionForRow(stages.database, 'find_stored_object', named)
  if (!known || !isStoredAt(known, vendor)) throw createObjectNotFoundError(collection, id)
  const provider = throwIfError(
    stages.modelRouter.findStorageProvider(resolvedKey, collection, { providerId: known.provider }),
  )
  const isResults = part === '/results'
  const isDownload = isResults || part === '/content'
  const answer = await passThroughTo(provider, {
    method,
    path: `${COLLECTION_PATHS[collection]}/${id}${part}`,
    body: null,
    headers: request.headers,
    hasSideEffects: method !== 'GET',
    isDownload,
    // Results are read to their end, whether or not their client stays.
    signal: isResults ? new AbortController().signal : createDisconnectSignal(request.signal),
  })
  const asked = { request, resolvedKey, provider, keeper: known.provider, collection, id }
  const headers = { ...toResponseHeaders(answer), 'x-proxy-provider': provider.name }
  if (isDownload && answer.status < 400) {
    // The requests of a batch may have made responses.
    const isMade = isResults || known.purpose === BATCH_OUTPUT_PURPOSE
    const about = {
      database: stages.database,
      resolvedKey,
      keeper: isMade ? storageProviderNameOf(provider, answer.headers.get(PROVIDER_KEY_HEADER)) : null,
    }
    const body = isResults ? recordBatchResults(answer.body, asked, stages) : answer.body
    return { status: answer.status, headers, body: await claimIdsInBody(body, about) }
  }
  const text = nameOwnResults(
    new TextDecoder().decode(
      await readAllBytes(answer.body, provider.name, MAX_PLAIN_RESPONSE_BYTES, request.responseMemory),
    ),
  )
  // A file's content can be gone while the file still exists, so a download says nothing about it.
  if (!isDownload) await recordObjectState({ ...asked, status: answer.status, text }, stages)
  return { status: answer.status, headers, body: text }
}

/** Anthropic's clients read a batch's results at the address that it names: a path leads them here, whatever their base address is. */
function nameOwnResults(text: string): string {
  const object = parseJsonObject(text)
  if (object?.type !== 'message_batch' || typeof object.results_url !== 'string') return text
  return JSON.stringify({ ...object, results_url: `/v1${COLLECTION_PATHS.message_batches}/${object.id}/results` })
}

/** Returns a signal that is aborted with ClientDisconnected when the client leaves. */
export function createDisconnectSignal(signal: AbortSignal): AbortSignal {
  const leaving = new AbortController()
  onAbort(signal, () => leaving.abort(new ClientDisconnected()))
  return leaving.signal
}

/** Whether the vendor that a client speaks to, if any, keeps the object. */
export function isStoredAt({ provider }: { provider: string }, vendor?: ClientVendor): boolean {
  return vendor === undefined || provider.split('/')[0] === vendor
}

/** OpenAI's own 404. Another project's object gets the same, so that ids cannot be probed. */
export function createObjectNotFoundError(collection: ObjectCollection, id: string): ProxyError {
  const isFile = COLLECTION_PATHS[collection] === COLLECTION_PATHS.files
  return isFile ? createError('fileNotFound', { id }) : createError('batchNotFound', { id })
}

export function passThroughTo({ name, passThrough }: Provider, request: PassThroughRequest): Promise<UpstreamResponse> {
  if (!passThrough) throw new Error(`${name} passes nothing on`)
  return passThrough(request)
}

/** The keeper, or its error thrown. */
export function throwIfError(found: Provider | ProxyError): Provider {
  if (found instanceof ProxyError) throw found
  return found
}
