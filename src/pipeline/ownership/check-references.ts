/** Prevents requests that refer to another project's objects at a provider: files, responses, containers, voices. */
import { addErrorDetails, createError } from '../../errors/errors.ts'
import type { StoredObjectReference } from '../../formats/stored-object-references.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { callFunction } from '../../postgres/call.ts'
import { type Database, isNulCharacterError } from '../../postgres/database.ts'
import { findStorageKeyName } from '../../postgres/stored-objects.ts'
import type { Provider } from '../../providers/upstream.ts'

type Owner = Pick<ResolvedKey, 'project_id'>

/** The limit of `stored_objects.id`. */
const MAX_ID_LENGTH = 256

/**
 * Runs before a provider is called. An object that was created through the proxy belongs to the project that created it. An object that was
 * created elsewhere, under the project's provider key, belongs to the first project that refers to it. Returns the provider with the key
 * that created the objects. Throws 400, 404 or 503.
 */
export async function checkReferences(
  database: Database,
  references: readonly StoredObjectReference[],
  resolvedKey: Owner,
  provider: Provider,
): Promise<Provider> {
  // A translation to chat completions drops the ids of items.
  const sendsItems = provider.nativeEndpoints?.includes('responses') ?? true
  const sentReferences = references.filter(({ kind }) => kind !== 'item' || sendsItems)
  const malformed = sentReferences.find(({ id }) => id === '' || id.length > MAX_ID_LENGTH)
  if (malformed) throw createError('invalidId', { param: malformed.field })
  const foreignIds = await findForeignIds(database, sentReferences, resolvedKey, provider)
  const foreign = sentReferences.find(({ id }) => foreignIds.includes(id))
  if (!foreign) return withOwningKey(database, sentReferences, resolvedKey, provider)
  const param = foreign.field
  if (foreign.kind === 'file') throw createError('fileOfAnotherProject', { param })
  const error = provider.isShared
    ? createError('objectOwnerUnknown', { param })
    : createError('objectOfAnotherProject', { param })
  // Anthropic's clients then start a new thread.
  throw param === 'thread' ? addErrorDetails(error, { error_code: 'thread_not_found' }) : error
}

/** Returns the provider with the key that created the objects, because only that key's account at the provider can access them. */
export async function withOwningKey(
  database: Database,
  references: readonly Pick<StoredObjectReference, 'id'>[],
  { project_id: projectId }: Owner,
  provider: Provider,
): Promise<Provider> {
  if (!provider.withKey || provider.pricedAs === null || references.length === 0) return provider
  const lookup = { projectId, provider: provider.pricedAs, ids: references.map(({ id }) => id) }
  const key = await findStorageKeyName(database, lookup).catch(throwDatabaseError)
  return key === null ? provider : provider.withKey(key)
}

function throwDatabaseError(error: unknown): never {
  throw isNulCharacterError(error) ? createError('nullCharacter') : createError('databaseUnavailable', null, error)
}

/** Returns the ids to which the project may not refer at the provider. */
export async function findForeignIds(
  database: Database,
  references: readonly Pick<StoredObjectReference, 'id'>[],
  { project_id: projectId }: Owner,
  { isShared = false, pricedAs: provider }: Pick<Provider, 'isShared' | 'pricedAs'>,
): Promise<string[]> {
  // The sandbox stores no objects.
  if (references.length === 0 || provider === null) return []
  const claim = { of_project: projectId, of_provider: provider, ids: references.map(({ id }) => id) }
  const result = callFunction(database, 'claim_referenced_ids', { ...claim, under_shared_key: isShared })
  return (await result.catch(throwDatabaseError)).map(({ id }) => id)
}
