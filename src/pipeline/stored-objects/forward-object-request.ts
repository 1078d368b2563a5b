/** Forwards a free request about one of the project's objects to its provider: to read, download, cancel or delete it. */
import { ClientDisconnected } from '../../errors/errors.ts'
import { onAbort } from '../../event-loop/timeouts.ts'
import { parseJsonObject } from '../../formats/json/canonical.ts'
import { PROVIDER_KEY_HEADER } from '../../providers/attempts.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readAllBytes } from '../../providers/read-bytes.ts'
import { traitsOf } from '../../providers/stored-object-collections.ts'
import type { PipelineServices } from '../context/request-context.ts'
import { claimIdsInBody, storageProviderNameOf } from '../ownership/claim-ids.ts'
import type { ProxyResponse } from '../request/request.ts'
import { toResponseHeaders } from '../response/complete-call.ts'
import type { FoundObjectContext } from './find-object.ts'
import { recordBatchResults } from './record-batch-results.ts'
import { BATCH_OUTPUT_PURPOSE, recordObjectState } from './record-object-state.ts'
import { sendToStorage } from './send-to-storage.ts'

export async function forwardObjectRequest(
  context: FoundObjectContext,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { request, resolvedKey, target, action, object } = context
  const { collection } = target
  const { provider, row } = object
  // Results are read to their end, even if the client disconnects.
  const signal = action.hasResults ? {} : { signal: createDisconnectSignal(request.signal) }
  const upstream = await sendToStorage(provider, request, target, signal)
  const { status } = upstream
  const headers = { ...toResponseHeaders(upstream), 'x-proxy-provider': provider.name }
  const isSuccessful = status < 400
  // Files contain no ids of new objects, except the output of a batch.
  const hasNewIds = action.isDownload ? action.hasResults || row?.purpose === BATCH_OUTPUT_PURPOSE : !row
  const key = upstream.headers.get(PROVIDER_KEY_HEADER)
  const storageProvider = hasNewIds && isSuccessful ? storageProviderNameOf(provider, key) : null
  const claim = { database: stages.database, resolvedKey, storageProvider }
  if (isSuccessful && (action.isDownload || collection === 'responses')) {
    const body = action.hasResults ? recordBatchResults(upstream.body, context, stages) : upstream.body
    return { status, headers, body: await claimIdsInBody(body, claim) }
  }
  const bytes = await readAllBytes(upstream.body, provider.name, MAX_PLAIN_RESPONSE_BYTES, request.responseMemory)
  const body = collection === 'message_batches' ? rewriteResultsUrl(new TextDecoder().decode(bytes)) : bytes
  // The content of a file can expire before the file, so a download does not change the recorded state.
  if (!action.isDownload) await recordObjectState(context, { status, body }, stages)
  return { status, headers, body: await claimIdsInBody(body, claim) }
}

/** Replaces a message batch's `results_url` by a path of the proxy, at which clients then request the results. */
function rewriteResultsUrl(text: string): string {
  const object = parseJsonObject(text)
  if (object?.type !== 'message_batch' || typeof object.results_url !== 'string') return text
  return JSON.stringify({ ...object, results_url: `/v1${traitsOf('message_batches').path}/${object.id}/results` })
}

/** Returns a signal that is aborted with ClientDisconnected when the client disconnects. */
function createDisconnectSignal(signal: AbortSignal): AbortSignal {
  const controller = new AbortController()
  onAbort(signal, () => controller.abort(new ClientDisconnected()))
  return controller.signal
}
