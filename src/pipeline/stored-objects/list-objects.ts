/**
 * Lists a project's files or batches in their vendor's list format. The provider's own list would include other projects of the account.
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

/** The vendors' default and maximum page sizes. */
const PAGE_SIZES: Record<ObjectCollection, { default: number; max: number }> = {
  files: { default: 10_000, max: 10_000 },
  anthropic_files: { default: 20, max: 1_000 },
  batches: { default: 20, max: 100 },
  message_batches: { default: 20, max: 1_000 },
}
/** Concurrent requests to the provider for objects that may have changed. */
const MAX_CONCURRENT_REQUESTS = 8

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
  const provider = stages.modelRouter.findStorageProvider(resolvedKey, collection, { vendor })
  // Objects created with a removed provider key are still listed, unless the client uses a vendor's API for which no key is left.
  if (provider instanceof ProxyError && (resolvedKey.key_type === 'test' || vendor !== undefined)) throw provider
  const list = {
    ...{ collection, search, storageProvider: vendor ?? null, pageSize: PAGE_SIZES[collection], mayHaveChanged },
    isAnthropicFormat: collection === 'message_batches' || collection === 'anthropic_files',
    fetchObject: ({ id }: ListedObject) =>
      forwardObjectRequest(context, { method: 'GET', collection, id, part: '', vendor }, stages),
  }
  return listStoredObjects(context, list, stages)
}

export interface ObjectListOptions {
  collection: string
  /** The provider whose objects are listed; null for all. */
  storageProvider: string | null
  search: URLSearchParams
  pageSize: { default: number; max: number }
  isAnthropicFormat: boolean
  mayHaveChanged(row: ListedObject): boolean
  /** Requests the object from its provider. */
  fetchObject(row: ListedObject): Promise<ProxyResponse>
}

/** Lists the project's objects in their vendor's format. Throws a 400 for an invalid page. */
export async function listStoredObjects(
  { resolvedKey }: Pick<RequestContext, 'resolvedKey'>,
  { collection, storageProvider, search, pageSize, isAnthropicFormat, ...options }: ObjectListOptions,
  { database }: Pick<PipelineServices, 'database'>,
): Promise<ProxyResponse> {
  const limit = readLimit(search.get('limit'), pageSize)
  const { isReversed, ...position } = isAnthropicFormat ? readAnthropicPosition(search) : readOpenAiPosition(search)
  const rows = await callFunction(database, 'list_stored_objects', {
    of_project: resolvedKey.project_id,
    of_collection: collection,
    kept_by: storageProvider,
    ...position,
    page_size: limit + 1,
  })
  const page = rows.slice(0, limit)
  const hasMore = rows.length > limit
  const texts = await refresh(isReversed ? page.toReversed() : page, options)
  const data = texts.flatMap((text): JsonObject[] => (text === null ? [] : [parseJsonObject(text) ?? {}]))
  const list = {
    ...(isAnthropicFormat ? {} : { object: 'list' }),
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
    // Anthropic's newer pagination uses `next_page`, the older one ids.
    ...(collection === 'anthropic_files' ? { next_page: hasMore ? (page.at(-1)?.id ?? null) : null } : {}),
  }
  return { status: 200, headers: { ...JSON_HEADERS }, body: JSON.stringify(list) }
}

type ListedObject = RowOf<'list_stored_objects'>

/** The requested page of the list. */
interface PagePosition
  extends Pick<ArgumentsOf<'list_stored_objects'>, 'for_purpose' | 'only_ids' | 'after_id' | 'newest_first'> {
  /** Whether the page is shown in the reverse of the order in which it is read. */
  isReversed: boolean
}

function readOpenAiPosition(search: URLSearchParams): PagePosition {
  return {
    for_purpose: search.get('purpose'),
    only_ids: null,
    after_id: search.get('after'),
    newest_first: readOrder(search.get('order')) === 'desc',
    isReversed: false,
  }
}

const MAX_IDS = 100

/** The newest objects come first. A file's `scope_id` names the session that created it; no file of the proxy's matches one. */
function readAnthropicPosition(search: URLSearchParams): PagePosition {
  const ids = search.getAll('ids[]').concat(search.getAll('ids'))
  if (ids.length > MAX_IDS)
    throw invalidRequestError(`ids must have at most ${MAX_IDS} values, got ${ids.length}.`, 'ids')
  const filters = { for_purpose: search.get('scope_id'), only_ids: ids.length > 0 ? ids : null }
  const before = search.get('before_id')
  if (before !== null) return { ...filters, after_id: before, newest_first: false, isReversed: true }
  return { ...filters, after_id: search.get('page') ?? search.get('after_id'), newest_first: true, isReversed: false }
}

/** Returns each object's current text: the stored one if it cannot have changed or its provider fails, null if the object is deleted. */
async function refresh(
  rows: readonly ListedObject[],
  { fetchObject, mayHaveChanged }: Pick<ObjectListOptions, 'fetchObject' | 'mayHaveChanged'>,
): Promise<(string | null)[]> {
  const texts = rows.map(row => row.object)
  const queue = rows.flatMap((row, index) => (mayHaveChanged(row) ? [{ row, index }] : []))
  async function work(): Promise<void> {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { row, index } = next
      const response = await fetchObject(row).catch(() => null)
      if (response?.status === 200) texts[index] = readText(response.body)
      if (response?.status === 404) texts[index] = null
    }
  }
  await Promise.all(Array.from({ length: MAX_CONCURRENT_REQUESTS }, work))
  return texts
}

/** Decodes a body that is not a stream. */
function readText(body: ProxyResponse['body']): string {
  if (body instanceof ReadableStream) throw new Error('cannot list an object whose response is a stream')
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}

function mayHaveChanged({ object }: ListedObject): boolean {
  const stored = object === null ? undefined : parseJsonObject(object)
  return stored === undefined || isBatchInProgress(stored)
}

function readLimit(value: string | null, pageSize: { default: number; max: number }): number {
  if (value === null) return pageSize.default
  const limit = Number(value)
  if (/^\d+$/.test(value) && limit >= 1 && limit <= pageSize.max) return limit
  throw invalidRequestError(`limit must be a whole number from 1 to ${pageSize.max}.`, 'limit')
}

function readOrder(value: string | null): 'asc' | 'desc' {
  if (value === null || value === 'desc' || value === 'asc') return value ?? 'desc'
  throw invalidRequestError('order must be asc or desc.', 'order')
}
