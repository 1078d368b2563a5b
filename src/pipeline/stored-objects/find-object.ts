/** Finds the project's object that a request is about, and its provider. Another project's object is not found. */
import { createError, throwIfError } from '../../errors/errors.ts'
import { isProxyResponseId } from '../../formats/responses/item-references.ts'
import { callFunctionForRow, type RowOf } from '../../postgres/call.ts'
import { type StorageAction, traitsOf } from '../../providers/stored-object-collections.ts'
import type { Provider } from '../../providers/upstream.ts'
import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import { findForeignIds, withOwningKey } from '../ownership/check-references.ts'
import type { StoredObjectTarget } from '../request/request.ts'

/** An admitted request about stored objects. */
export interface ObjectContext extends RequestContext {
  target: StoredObjectTarget
  action: StorageAction
}

/** An admitted request about an object of the project. */
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
    const row = await findRecordedObject(context, { ...target, id }, stages)
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
  { collection, id, vendor }: StoredObjectTarget & { id: string },
  { database }: Pick<PipelineServices, 'database'>,
): Promise<RowOf<'find_stored_object'>> {
  const object = { of_project: resolvedKey.project_id, of_collection: collection, object_id: id }
  const row = await callFunctionForRow(database, 'find_stored_object', object)
  if (row && (vendor === undefined || row.provider.split('/')[0] === vendor)) return row
  throw createError(traitsOf(collection).notFound, { id })
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
  // A client of another vendor's API does not refer to OpenAI's responses.
  const hasResponses = provider && vendor === undefined && !isProxyResponseId(id ?? '')
  if (collection === 'responses' && !hasResponses) throw createError('responseNotFound', { id: id ?? '' })
  if (resolvedKey.key_type === 'test')
    throw createError('pathUnsupported', { vendor: 'The sandbox, which answers test keys,', path: `/${collection}` })
  if (vendor !== undefined && vendor !== 'openai')
    throw createError('collectionOfAnotherVendor', { path: collection, vendor })
  if (!provider) throw createError('openAiKeyRequired', { path: collection })
  return provider
}
