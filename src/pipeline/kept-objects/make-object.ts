/** Has a provider create a file or a batch, and binds it to the project before its client learns the id. */
import { NO_USAGE } from '../../catalogue/cost.ts'
import { refuse } from '../../errors.ts'
import { parseJsonObject } from '../../json/json-object.ts'
import { keepObject } from '../../postgres/kept-objects.ts'
import type { Collection } from '../../providers/operations.ts'
import type { Provider } from '../../providers/upstream.ts'
import { broken } from '../../providers/upstream-failure.ts'
import { passedOn } from '../complete-call.ts'
import type { ProxyResponse } from '../exchange.ts'
import { readAll } from '../read-answer.ts'
import { missHeaders } from '../response-headers.ts'
import type { KeptRoom, MakingContext } from './kept-room.ts'
import { describeObject } from './note-object.ts'
import type { BatchInput } from './read-batch-input.ts'

export interface ObjectToMake extends Pick<BatchInput, 'requests' | 'models'> {
  collection: Collection
  provider: Provider
}

/** Returns the provider's response, including its errors. */
export async function makeObject(
  { request, account, accounting, passed }: MakingContext,
  { collection, provider, requests, models }: ObjectToMake,
  { database }: KeptRoom,
): Promise<ProxyResponse> {
  accounting.noteProvider(provider)
  accounting.noteAsked()
  const path = `/${collection}`
  const asked = { method: 'POST' as const, path, body: passed, headers: request.headers, leavesTrace: true }
  // Not the client's signal: the object is bound to its project even if the client has left.
  const answer = await passTo(provider, { ...asked, isDownload: false, signal: new AbortController().signal })
  const bytes = await readAll(answer.body, provider.name)
  const isMade = answer.status < 400
  if (isMade) {
    const text = new TextDecoder().decode(bytes)
    const object = parseJsonObject(text)
    if (typeof object?.id !== 'string') throw broken(provider.name, 'gave an answer without an id')
    const { id } = object
    const kept = { projectId: account.project_id, id, collection, provider: provider.pricedAs ?? '', requests, models }
    await keepObject(database, { ...kept, ...describeObject(object, text) }).catch(async error => {
      await undo(provider, collection, id, request.headers)
      throw refuse('databaseUnavailable', null, error)
    })
  }
  accounting.noteHeaders()
  accounting.finish({
    status: answer.status,
    counts: isMade,
    cacheResult: 'MISS',
    provider: provider.name,
    pricedAs: null,
    usage: NO_USAGE,
  })
  return { status: answer.status, headers: { ...passedOn(answer), ...missHeaders(provider.name, 0) }, body: bytes }
}

export function passTo({ name, pass }: Provider, request: Parameters<NonNullable<Provider['pass']>>[0]) {
  if (!pass) throw new Error(`${name} passes nothing on`)
  return pass(request)
}

/** Deletes, as far as possible, an object at the provider that could not be bound to its project. */
async function undo(provider: Provider, collection: Collection, id: string, headers: Headers): Promise<void> {
  const asked =
    collection === 'files'
      ? { method: 'DELETE' as const, path: `/files/${id}` }
      : { method: 'POST' as const, path: `/batches/${id}/cancel` }
  const signal = new AbortController().signal
  const undone = passTo(provider, { ...asked, body: null, headers, leavesTrace: false, isDownload: false, signal })
  await undone.then(answer => answer.body.cancel()).catch(() => {})
}
