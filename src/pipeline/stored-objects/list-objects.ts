/**
 * Lists a project's own files or batches in their vendor's list format. The provider's list would include other projects of the same account.
 */
import { invalidRequestError, ProxyError } from '../../errors/errors.ts'
import { type JsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import { type ArgumentsOf, callFunction, type RowOf } from '../../postgres/call.ts'
import type { ObjectCollection } from '../../postgres/stored-objects.ts'
import type { ClientVendor } from '../../providers/pass-through-operations.ts'
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import type { ProxyResponse } from '../request/request.ts'
import { JSON_HEADERS } from '../response/response-headers.ts'
import { forwardObjectRequest } from './forward-object-request.ts'
import { isBatchInProgress } from './record-object-state.ts'

/** The vendors' page sizes. */
const SIZES: Record<ObjectCollection, { usual: number; most: number }> = {
  files: { usual: 10_000, most: 10_000 },
  anthropic_files: { usual: 20, most: 1_000 },
  batches: { usual: 20, most: 100 },
  message_batches: { usual: 20, most: 1_000 },
}
/** Concurrent requests to the provider for objects that may have changed. */
const MOST_AT_ONCE = 8

export async function listObjects(
  context: RequestContext,
  {
    collection,
    search,
    vendor,
  }: { collection: ObjectCollection; search: URLSearchParams; vendor: ClientVendor | undefined },
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { resolvedKey } = context
  const keeper = stages.modelRouter.findStorageProvider(resolvedKey, collection, { vendor })
  // What a project made with a key that is gone is still its own, but no vendor's that its client names has none of it.
  if (keeper instanceof ProxyError && (resolvedKey.key_type === 'test' || vendor !== undefined)) throw keeper
  const list = {
    ...{ collection, search, storageProvider: vendor ?? null, pageSize: SIZES[collection], mayHaveChanged },
    isAnthropicFormat: collection === 'message_batches' || collection === 'anthropic_files',
    fetchObject: ({ id }: ListedObject) =>
      forwardObjectRequest(context, { method: 'GET', collection, id, part: '', vendor }, stages),
  }
  return listStoredObjects(context, list, stages)
}

export interface ObjectListOptions {
  collection: string
  /** A provider whose objects alone are listed; null for all. */
  storageProvider: string | null
  search: URLSearchParams
  pageSize: { usual: number; most: number }
  isAnthropicFormat: boolean
  mayHaveChanged(row: ListedObject): boolean
  /** Asks the provider for the object. */
  fetchObject(row: ListedObject): Promise<ProxyResponse>
}

/** Lists what was made for the project, in its vendor's format. */
export async function listStoredObjects(
  { resolvedKey }: Pick<RequestContext, 'resolvedKey'>,
  { collection, storageProvider, search, pageSize, isAnthropicFormat, ...asking }: ObjectListOptions,
  { database }: Pick<PipelineServices, 'database'>,
): Promise<ProxyResponse> {
  const limit = readLimit(search.get('limit'), pageSize)
  const { isReversed, ...place } = isAnthropicFormat ? readAnthropicsPlace(search) : readPlace(search)
  const rows = await callFunction(database, 'list_stored_objects', {
    of_project: resolvedKey.project_id,
    of_collection: collection,
    kept_by: storageProvider,
    ...place,
    page_size: limit + 1,
  })
  const page = rows.slice(0, limit)
  const hasMore = rows.length > limit
  const texts = await refresh(isReversed ? page.toReversed() : page, asking)
  const data = texts.flatMap((text): JsonObject[] => (text === null ? [] : [parseJsonObject(text) ?? {}]))
  const list = {
    ...(isAnthropicFormat ? {} : { object: 'list' }),
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
    // Anthropic's newer form of pages; the older one goes by ids.
    ...(collection === 'anthropic_files' ? { next_page: hasMore ? (page.at(-1)?.id ?? null) : null } : {}),
  }
  return { status: 200, headers: { ...JSON_HEADERS }, body: JSON.stringify(list) }
}

type ListedObject = RowOf<'list_stored_objects'>

/** Which page of the list is asked for. */
interface Place
  extends Pick<ArgumentsOf<'list_stored_objects'>, 'for_purpose' | 'only_ids' | 'after_id' | 'newest_first'> {
  /** Whether the page is shown in the other order than it is looked for. */
  isReversed: boolean
}

function readPlace(search: URLSearchParams): Place {
  return {
    for_purpose: search.get('purpose'),
    only_ids: null,
    after_id: search.get('after'),
    newest_first: readOrder(search.get('order')) === 'desc',
    isReversed: false,
  }
}

const MOST_IDS = 100

/** The newest come first, also on the page before a given batch. A file's `scope_id` names the session that made it: none was made so. */
function readAnthropicsPlace(search: URLSearchParams): Place {
  const named = search.getAll('ids[]').concat(search.getAll('ids'))
  if (named.length > MOST_IDS) throw invalidRequestError(`ids must be at most ${MOST_IDS} ids.`, 'ids')
  const asked = { for_purpose: search.get('scope_id'), only_ids: named.length > 0 ? named : null }
  const before = search.get('before_id')
  if (before !== null) return { ...asked, after_id: before, newest_first: false, isReversed: true }
  return { ...asked, after_id: search.get('page') ?? search.get('after_id'), newest_first: true, isReversed: false }
}

/** Returns the stored text if the object cannot have changed or its provider does not answer; null if the object is gone. */
async function refresh(
  rows: readonly ListedObject[],
  { fetchObject, mayHaveChanged }: Pick<ObjectListOptions, 'fetchObject' | 'mayHaveChanged'>,
): Promise<(string | null)[]> {
  const texts = rows.map(row => row.object)
  const waiting = rows.flatMap((row, at) => (mayHaveChanged(row) ? [{ row, at }] : []))
  async function work(): Promise<void> {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { row, at } = next
      const answer = await fetchObject(row).catch(() => null)
      if (answer?.status === 200) texts[at] = readWhole(answer.body)
      if (answer?.status === 404) texts[at] = null
    }
  }
  await Promise.all(Array.from({ length: MOST_AT_ONCE }, work))
  return texts
}

/** It was read whole. */
function readWhole(body: ProxyResponse['body']): string {
  if (body instanceof ReadableStream) throw new Error('An object that was asked for is not a stream')
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}

function mayHaveChanged({ object }: ListedObject): boolean {
  const known = object === null ? undefined : parseJsonObject(object)
  return known === undefined || isBatchInProgress(known)
}

function readLimit(given: string | null, { usual, most }: { usual: number; most: number }): number {
  if (given === null) return usual
  const limit = Number(given)
  if (/^\d+$/.test(given) && limit >= 1 && limit <= most) return limit
  throw invalidRequestError(`limit must be a whole number from 1 to ${most}.`, 'limit')
}

function readOrder(given: string | null): 'asc' | 'desc' {
  if (given === null || given === 'desc' || given === 'asc') return given ?? 'desc'
  throw invalidRequestError('order must be asc or desc.', 'order')
}
