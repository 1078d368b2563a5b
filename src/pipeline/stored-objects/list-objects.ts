/** Lists a project's objects in their vendor's list format. The provider's own list would include those of other projects of the account. */
import { invalidRequestError } from '../../errors/errors.ts'
import { type JsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import { type ArgumentsOf, callFunction, type RowOf } from '../../postgres/call.ts'
import { traitsOf } from '../../providers/stored-object-collections.ts'
import type { PipelineServices } from '../context/request-context.ts'
import type { ProxyResponse } from '../request/request.ts'
import { createJsonResponse } from '../response/response-headers.ts'
import { type ObjectContext, requireOpenAi, requireVendor } from './find-object.ts'
import { isBatchInProgress } from './record-object-state.ts'

/** Concurrent requests to the provider for objects that may have changed. */
const MAX_CONCURRENT_REQUESTS = 8

/** Requests an object from its provider. */
type FetchObject = (id: string) => Promise<ProxyResponse>

/** Throws a 400 for an invalid page, and a 404 if no provider of the project stores such objects. */
export async function listObjects(
  context: ObjectContext,
  fetchObject: FetchObject,
  stages: PipelineServices,
): Promise<ProxyResponse> {
  const { request, resolvedKey, target, action } = context
  const { collection, vendor } = target
  const { api, ownership } = traitsOf(collection)
  if (ownership === 'claimed') requireOpenAi(context)
  else requireVendor(context, stages)
  const search = new URLSearchParams(request.search)
  const limit = readLimit(search.get('limit'), action.lists ?? { default: 0, max: 0 })
  const { isReversed, ...position } = api === 'anthropic' ? readAnthropicPosition(search) : readOpenAiPosition(search)
  const rows = await callFunction(stages.database, 'list_stored_objects', {
    of_project: resolvedKey.project_id,
    of_collection: collection,
    stored_by: vendor ?? null,
    ...position,
    page_size: limit + 1,
  })
  const page = rows.slice(0, limit)
  const hasMore = rows.length > limit
  const mayChange = ownership === 'claimed' ? () => true : mayHaveChanged
  const texts = await refresh(isReversed ? page.toReversed() : page, mayChange, fetchObject)
  const data = texts.flatMap((text): JsonObject[] => (text === null ? [] : [parseJsonObject(text) ?? {}]))
  const list = {
    ...(api === 'anthropic' ? {} : { object: 'list' }),
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
    // Anthropic's newer pagination uses `next_page`, the older one ids.
    ...(collection === 'anthropic_files' ? { next_page: hasMore ? (page.at(-1)?.id ?? null) : null } : {}),
  }
  return createJsonResponse(list)
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
  mayChange: (row: ListedObject) => boolean,
  fetchObject: FetchObject,
): Promise<(string | null)[]> {
  const texts = rows.map(row => row.object)
  const queue = rows.flatMap((row, index) => (mayChange(row) ? [{ row, index }] : []))
  async function work(): Promise<void> {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { row, index } = next
      const response = await fetchObject(row.id).catch(() => null)
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

export function readLimit(value: string | null, pageSize: { default: number; max: number }): number {
  if (value === null) return pageSize.default
  const limit = Number(value)
  if (/^\d+$/.test(value) && limit >= 1 && limit <= pageSize.max) return limit
  throw invalidRequestError(`limit must be a whole number from 1 to ${pageSize.max}.`, 'limit')
}

function readOrder(value: string | null): 'asc' | 'desc' {
  if (value === null || value === 'desc' || value === 'asc') return value ?? 'desc'
  throw invalidRequestError('order must be asc or desc.', 'order')
}
