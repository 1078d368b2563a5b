/** Prevents a project from naming another project's objects to a provider, whatever they are: files, responses, containers, voices. */
import { AGGREGATOR } from '../../catalogue/catalogue.ts'
import { refuse, withDetails } from '../../errors/errors.ts'
import type { KeptReference } from '../../formats/kept-references.ts'
import type { Account } from '../../postgres/admit.ts'
import { call } from '../../postgres/call.ts'
import { type Database, isUnstorableText } from '../../postgres/database.ts'
import { findKeyOf } from '../../postgres/kept-objects.ts'
import type { Provider } from '../../providers/upstream.ts'

type Keeper = Pick<Provider, 'kind' | 'pricedAs' | 'has'>
type Owner = Pick<Account, 'project_id'>

/** What `kept_objects.id` takes. */
const LONGEST_ID = 256

/**
 * Runs before a provider is asked. What was made through the proxy belongs to the project that made it; what was made elsewhere, under a
 * key of the project's own, to the first project that names it. Returns the provider with the key that made it. Throws 400, 404 or 503.
 */
export async function checkReferences(
  database: Database,
  references: readonly KeptReference[],
  account: Owner,
  provider: Provider,
): Promise<Provider> {
  // A translation to chat completions drops the ids of items.
  const keepsItems = provider.has?.includes('responses') ?? true
  const named = references.filter(({ kind }) => kind !== 'item' || keepsItems)
  const malformed = named.find(({ id }) => id === '' || id.length > LONGEST_ID)
  if (malformed) throw refuse('idMalformed', { param: malformed.field })
  const foreign = await findForeign(database, named, account, provider)
  const first = named.find(({ id }) => foreign.includes(id))
  if (!first) return withKeyOf(database, named, account, provider)
  const param = first.field
  if (first.kind === 'file') throw refuse('fileNotOwn', { param })
  const refusal = provider.kind === AGGREGATOR ? refuse('notBound', { param }) : refuse('notOwn', { param })
  // Anthropic's clients then begin another.
  throw param === 'thread' ? withDetails(refusal, { error_code: 'thread_not_found' }) : refusal
}

/** Whether the project may ask the provider for what has this id. */
export async function mayName(database: Database, id: string, account: Owner, provider: Keeper): Promise<boolean> {
  return (await findForeign(database, [{ id }], account, provider)).length === 0
}

/** What was made with one of a project's keys is known to that key's account alone. */
export async function withKeyOf(
  database: Database,
  named: readonly Pick<KeptReference, 'id'>[],
  { project_id: projectId }: Owner,
  provider: Provider,
): Promise<Provider> {
  if (!provider.withKey || provider.pricedAs === null || named.length === 0) return provider
  const asked = { projectId, provider: provider.pricedAs, ids: named.map(({ id }) => id) }
  const key = await findKeyOf(database, asked).catch(unavailable)
  return key === null ? provider : provider.withKey(key)
}

function unavailable(error: unknown): never {
  throw isUnstorableText(error) ? refuse('unstorableText') : refuse('databaseUnavailable', null, error)
}

async function findForeign(
  database: Database,
  named: readonly Pick<KeptReference, 'id'>[],
  { project_id: projectId }: Owner,
  { kind, pricedAs: provider }: Keeper,
): Promise<string[]> {
  // The sandbox keeps nothing of any project.
  if (named.length === 0 || provider === null) return []
  const claimed = { of_project: projectId, of_provider: provider, ids: named.map(({ id }) => id) }
  const asked = call(database, 'claim_ids', { ...claimed, under_shared_key: kind === AGGREGATOR })
  return (await asked.catch(unavailable)).map(({ id }) => id)
}
