/** Asks a provider about one file or batch of the project: the object, its content, its cancellation or its deletion. */
import { ClientGone, ProxyError, refuse } from '../../errors/errors.ts'
import { whenAborted } from '../../event-loop/time-limit.ts'
import { parseJsonObject } from '../../formats/json/canonical.ts'
import { callForRow } from '../../postgres/call.ts'
import type { Collection } from '../../postgres/kept-objects.ts'
import { PROVIDER_KEY } from '../../providers/balanced.ts'
import { COLLECTION_PATHS, type NamedVendor } from '../../providers/operations.ts'
import { MAX_PLAIN_BYTES, readAll } from '../../providers/read-bytes.ts'
import type { PassedRequest, Provider, UpstreamAnswer } from '../../providers/upstream.ts'
import { passedOn } from '../complete-call.ts'
import type { Method, ProxyResponse } from '../request.ts'
import type { RequestContext, Stages } from '../request-context.ts'
import { bindRead, keeperOf } from './bind-made.ts'
import { BATCH_OUTPUT, noteObject } from './note-object.ts'
import { recordResults } from './record-results.ts'

export interface AskedObject {
  method: Method
  collection: Collection
  id: string
  /** The part of the object, with a leading slash; '' for the object itself. */
  part: string
  /** Whose API the client speaks, if that is said: then what another keeps is none of its objects. */
  vendor?: NamedVendor | undefined
}

export async function askObject(
  { request, account }: Pick<RequestContext, 'request' | 'account'>,
  { method, collection, id, part, vendor }: AskedObject,
  stages: Stages,
): Promise<ProxyResponse> {
  const named = { of_project: account.project_id, of_collection: collection, object_id: id }
  const known = await callForRow(stages.database, 'find_kept_object', named)
  if (!known || !isKeptBy(known, vendor)) throw noSuchObject(collection, id)
  const provider = orThrow(stages.modelRouter.keeperOfObjects(account, collection, { as: known.provider }))
  const isResults = part === '/results'
  const isDownload = isResults || part === '/content'
  const answer = await passTo(provider, {
    method,
    path: `${COLLECTION_PATHS[collection]}/${id}${part}`,
    body: null,
    headers: request.headers,
    leavesTrace: method !== 'GET',
    isDownload,
    // Results are read to their end, whether or not their client stays.
    signal: isResults ? new AbortController().signal : leavingOf(request.signal),
  })
  const asked = { request, account, provider, keeper: known.provider, collection, id }
  const headers = { ...passedOn(answer), 'x-proxy-provider': provider.name }
  if (isDownload && answer.status < 400) {
    // The requests of a batch may have made responses.
    const isMade = isResults || known.purpose === BATCH_OUTPUT
    const about = {
      database: stages.database,
      account,
      keeper: isMade ? keeperOf(provider, answer.headers.get(PROVIDER_KEY)) : null,
    }
    const body = isResults ? recordResults(answer.body, asked, stages) : answer.body
    return { status: answer.status, headers, body: await bindRead(body, about) }
  }
  const text = nameOwnResults(
    new TextDecoder().decode(await readAll(answer.body, provider.name, MAX_PLAIN_BYTES, request.held)),
  )
  // A file's content can be gone while the file still exists, so a download says nothing about it.
  if (!isDownload) await noteObject({ ...asked, status: answer.status, text }, stages)
  return { status: answer.status, headers, body: text }
}

/** Anthropic's clients read a batch's results at the address that it names: a path leads them here, whatever their base address is. */
function nameOwnResults(text: string): string {
  const object = parseJsonObject(text)
  if (object?.type !== 'message_batch' || typeof object.results_url !== 'string') return text
  return JSON.stringify({ ...object, results_url: `/v1${COLLECTION_PATHS.message_batches}/${object.id}/results` })
}

/** Returns a signal that is aborted with ClientGone when the client leaves. */
export function leavingOf(signal: AbortSignal): AbortSignal {
  const leaving = new AbortController()
  whenAborted(signal, () => leaving.abort(new ClientGone()))
  return leaving.signal
}

/** Whether the vendor that a client speaks to, if any, keeps the object. */
export function isKeptBy({ provider }: { provider: string }, vendor?: NamedVendor): boolean {
  return vendor === undefined || provider.split('/')[0] === vendor
}

/** OpenAI's own 404. Another project's object gets the same, so that ids cannot be probed. */
export function noSuchObject(collection: Collection, id: string): ProxyError {
  const isFile = COLLECTION_PATHS[collection] === COLLECTION_PATHS.files
  return isFile ? refuse('fileUnknown', { id }) : refuse('batchUnknown', { id })
}

export function passTo({ name, pass }: Provider, request: PassedRequest): Promise<UpstreamAnswer> {
  if (!pass) throw new Error(`${name} passes nothing on`)
  return pass(request)
}

/** The keeper, or its error thrown. */
export function orThrow(found: Provider | ProxyError): Provider {
  if (found instanceof ProxyError) throw found
  return found
}
