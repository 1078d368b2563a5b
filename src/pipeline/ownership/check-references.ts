/** Prevents a project from naming another project's objects to a provider, whatever they are: files, responses, containers, voices. */
import { AGGREGATOR } from '../../catalogue/catalogue.ts'
import { addErrorDetails, createError } from '../../errors/errors.ts'
import type { StoredObjectReference } from '../../formats/stored-object-references.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { callFunction } from '../../postgres/call.ts'
import { type Database, isNulCharacterError } from '../../postgres/database.ts'
import { findStorageKeyName } from '../../postgres/stored-objects.ts'
import type { Provider } from '../../providers/upstream.ts'

type Keeper = Pick<Provider, 'kind' | 'pricedAs' | 'nativeEndpoints'>
type Owner = Pick<ResolvedKey, 'project_id'>

/** What `stored_objects.id` takes. */
const LONGEST_ID = 256

/**
 * Runs before a provider is asked. What was made through the proxy belongs to the project that made it; what was made elsewhere, under a
 * key of the project's own, to the first project that names it. Returns the provider with the key that made it. Throws 400, 404 or 503.
 */
export async function checkReferences(
  database: Database,
  references: readonly StoredObjectReference[],
  account: Owner,
  provider: Provider,
): Promise<Provider> {
  // A translation to chat completions drops the ids of items.
  const keepsItems = provider.nativeEndpoints?.includes('responses') ?? true
  const named = references.filter(({ kind }) => kind !== 'item' || keepsItems)
  const malformed = named.find(({ id }) => id === '' || id.length > LONGEST_ID)
  if (malformed) throw createError('invalidId', { param: malformed.field })
  const foreign = await findForeign(database, named, account, provider)
  const first = named.find(({ id }) => foreign.includes(id))
  if (!first) return withOwningKey(database, named, account, provider)
  const param = first.field
  if (first.kind === 'file') throw createError('fileOfAnotherProject', { param })
  const refusal =
    provider.kind === AGGREGATOR
      ? createError('objectOwnerUnknown', { param })
      : createError('objectOfAnotherProject', { param })
  // Anthropic's clients then begin another.
  throw param === 'thread' ? addErrorDetails(refusal, { error_code: 'thread_not_found' }) : refusal
}

/** Whether the project may ask the provider for what has this id. */
export async function canReference(database: Database, id: string, account: Owner, provider: Keeper): Promise<boolean> {
  return (await findForeign(database, [{ id }], account, provider)).length === 0
}

/** What was made with one of a project's keys is known to that key's account alone. */
export async function withOwningKey(
  database: Database,
  named: readonly Pick<StoredObjectReference, 'id'>[],
  { project_id: projectId }: Owner,
  provider: Provider,
): Promise<Provider> {
  if (!provider.withKey || provider.pricedAs === null || named.length === 0) return provider
  const asked = { projectId, provider: provider.pricedAs, ids: named.map(({ id }) => id) }
  const key = await findStorageKeyName(database, asked).catch(unavailable)
  return key === null ? provider : provider.withKey(key)
}

function unavailable(error: unknown): never {
  throw isNulCharacterError(error) ? createError('nullCharacter') : createError('databaseUnavailable', null, error)
}

async function findForeign(
  database: Database,
  named: readonly Pick<StoredObjectReference, 'id'>[],
  { project_id: projectId }: Owner,
  { kind, pricedAs: provider }: Keeper,
): Promise<string[]> {
  // The sandbox keeps nothing of any project.
  if (named.length === 0 || provider === null) return []
  const claimed = { of_project: projectId, of_provider: provider, ids: named.map(({ id }) => id) }
  const asked = callFunction(database, 'claim_referenced_ids', { ...claimed, under_shared_key: kind === AGGREGATOR })
  return (await asked.catch(unavailable)).map(({ id }) => id)
}
