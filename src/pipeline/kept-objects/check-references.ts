/** Prevents a project from naming another project's objects to a provider: files by id, or anything kept under a shared provider key. */
import { AGGREGATOR } from '../../catalogue/catalogue.ts'
import { refuse } from '../../errors.ts'
import type { KeptReference } from '../../formats/kept-references.ts'
import type { Account } from '../../postgres/admit.ts'
import { type Database, isUnstorableText } from '../../postgres/database.ts'
import { findForeignFiles } from '../../postgres/kept-objects.ts'
import type { Provider } from '../../providers/upstream.ts'

/** Runs before a provider is asked. Throws 400, 404 or 503. */
export async function checkReferences(
  database: Database,
  references: readonly KeptReference[],
  { project_id: projectId }: Pick<Account, 'project_id'>,
  provider: Pick<Provider, 'kind' | 'pricedAs' | 'has'>,
): Promise<void> {
  // The sandbox keeps nothing of any project.
  if (references.length === 0 || provider.pricedAs === null) return
  const isShared = provider.kind === AGGREGATOR
  // A translation to chat completions drops the ids of items.
  const keepsItems = provider.has?.includes('responses') ?? true
  const unbound = isShared && references.find(({ kind }) => kind === 'other' || (kind === 'item' && keepsItems))
  if (unbound) throw refuse('notBound', { param: unbound.field })
  const files = references.filter(({ kind }) => kind === 'file')
  const ids = [...new Set(files.map(({ id }) => id))]
  if (ids.length === 0) return
  const foreign = await findForeignFiles(database, { projectId, provider: provider.pricedAs, isShared, ids }).catch(
    error => {
      throw isUnstorableText(error) ? refuse('unstorableText') : refuse('databaseUnavailable', null, error)
    },
  )
  const first = files.find(({ id }) => foreign.includes(id))
  if (first) throw refuse('fileNotOwn', { param: first.field })
}
