/** Finds the project's object that a request is about, and its provider. Another project's object is not found. */
import { createError, ProxyError } from '../../errors/errors.ts'
import { isProxyResponseId } from '../../formats/responses/item-references.ts'
import { callFunctionForRow, type RowOf } from '../../postgres/call.ts'
import { type StorageAction, traitsOf } from '../../providers/stored-object-collections.ts'
import type { PassThroughRequest, Provider, UpstreamResponse } from '../../providers/upstream.ts'
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import { findForeignIds, withOwningKey } from '../ownership/check-references.ts'
import type { StoredObjectTarget } from '../request/request.ts'

/** An admitted request about stored objects. */
export interface ObjectContext extends RequestContext {
  target: StoredObjectTarget
  action: StorageAction
}

export interface FoundObjectContext extends ObjectContext {
  object: StoredObject
}

/** An object that the project has. */
export interface StoredObject {
  id: string
  /** The provider that stores the object, with the key that created it. */
  provider: Provider
  /** The row of a recorded object. */
  row?: RowOf<'find_stored_object'>
}

/** Returns null for a new object. Throws a 404 that does not tell whether another project has the object. */
export async function findObject(context: ObjectContext, stages: PipelineServices): Promise<StoredObject | null> {
  const { resolvedKey, target } = context
  const { collection, id } = target
  const { ownership, notFound } = traitsOf(collection)
  const openAi = ownership === 'claimed' ? requireOpenAi(context) : null
  if (id === null) return null
  if (!openAi) {
    const row = await findRecordedObject(context, target, stages)
    const query = { providerId: row.provider }
    return { id, row, provider: throwIfError(stages.modelRouter.findStorageProvider(resolvedKey, collection, query)) }
  }
  const foreignIds = await findForeignIds(stages.database, [{ id }], resolvedKey, openAi)
  if (foreignIds.length > 0) throw createError(notFound, { id })
  return { id, provider: await withOwningKey(stages.database, [{ id }], resolvedKey, openAi) }
}

/** Returns the row of an object that the project created at the vendor whose API the client uses, if that is known. Throws a 404. */
export async function findRecordedObject(
  { resolvedKey }: Pick<RequestContext, 'resolvedKey'>,
  { collection, id, vendor }: Pick<StoredObjectTarget, 'collection' | 'id' | 'vendor'>,
  { database }: Pick<PipelineServices, 'database'>,
): Promise<RowOf<'find_stored_object'>> {
  const object = { of_project: resolvedKey.project_id, of_collection: collection, object_id: id ?? '' }
  const row = await callFunctionForRow(database, 'find_stored_object', object)
  if (row && (vendor === undefined || row.provider.split('/')[0] === vendor)) return row
  throw createError(traitsOf(collection).notFound, { id: id ?? '' })
}

/**
 * Throws if a test key or a client of a vendor's API has no storage provider. For other clients, objects that were created with a removed
 * provider key are still found.
 */
export function requireVendor({ resolvedKey, target }: ObjectContext, { modelRouter }: PipelineServices): void {
  const { collection, vendor } = target
  const provider = modelRouter.findStorageProvider(resolvedKey, collection, { vendor })
  if (resolvedKey.key_type === 'test' || vendor !== undefined) throwIfError(provider)
}

/** Returns OpenAI under the project's provider key. Throws a 404 that names what is missing. */
export function requireOpenAi({ resolvedKey, provider, target }: ObjectContext): Provider {
  const { collection, id, vendor } = target
  if (collection === 'responses') {
    // A client of another vendor's API does not refer to OpenAI's responses.
    if (id === null || isProxyResponseId(id) || vendor !== undefined || !provider)
      throw createError('responseNotFound', { id: id ?? '' })
    return provider
  }
  if (resolvedKey.key_type === 'test')
    throw createError('pathUnsupported', { vendor: 'The sandbox, which answers test keys,', path: `/${collection}` })
  if (vendor !== undefined && vendor !== 'openai')
    throw createError('collectionOfAnotherVendor', { path: collection, vendor })
  if (!provider) throw createError('openAiKeyRequired', { path: collection })
  return provider
}

/** Returns the path of the target after the base address. */
export function pathOfObject({ collection, id, subpath }: StoredObjectTarget): string {
  const { path } = traitsOf(collection)
  return id === null ? path : `${path}/${id}${subpath}`
}

/** Sends the request to the provider. */
export function sendToStorage(
  { request, target, action }: ObjectContext,
  provider: Provider,
  { body, signal }: Pick<PassThroughRequest, 'body' | 'signal'>,
): Promise<UpstreamResponse> {
  const { method, headers, search } = request
  const path = pathOfObject(target)
  if (target.collection === 'responses' && provider.sendStored)
    return provider.sendStored({ method, path, query: search, headers, signal })
  return passThroughTo(provider, {
    method,
    path: traitsOf(target.collection).ownership === 'claimed' ? path + search : path,
    body,
    headers,
    hasSideEffects: method !== 'GET',
    isDownload: action.isDownload ?? false,
    signal,
  })
}

export function passThroughTo({ name, passThrough }: Provider, request: PassThroughRequest): Promise<UpstreamResponse> {
  if (!passThrough) throw new Error(`provider ${name} has no pass-through endpoints`)
  return passThrough(request)
}

/** Returns the result, or throws the error. */
export function throwIfError<Result>(result: Result | ProxyError): Result {
  if (result instanceof ProxyError) throw result
  return result
}
