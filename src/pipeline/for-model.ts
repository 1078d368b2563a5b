/** The same request for another model than the one that it names: the one that an alias stands for, or a fallback. */
import type { LargeBodyReader } from '../formats/large-bodies/read-large-body.ts'
import type { Account } from '../postgres/admit.ts'
import { type Alias, findAlias } from '../providers/aliases.ts'
import { renameInLong } from '../providers/rename-model.ts'
import { parseBytes, withModel } from './parse-request.ts'
import type { CompletionQuery, RecordedQuery } from './query.ts'
import type { ProxyRequest } from './request.ts'

export interface Renaming {
  account: Pick<Account, 'project_id'>
  body: ProxyRequest['body']
  largeBodies: LargeBodyReader
}

/** A large body is rewritten and read by a worker. */
export async function forModel(
  query: CompletionQuery,
  model: string,
  { account: { project_id: owner }, body, largeBodies }: Renaming,
): Promise<CompletionQuery> {
  if (!query.bytes) return withModel(query, model)
  const { bytes: bodyBytes, endpoint, headers } = query
  const bytes = await renameInLong({ bodyBytes, owner }, model)
  return parseBytes({ endpoint, headers, body }, bytes, largeBodies, owner)
}

/** Puts the model that an alias stands for in its place, before anything is looked up or asked by it. */
export async function resolveAlias<Q extends RecordedQuery>(
  query: Q,
  account: Account,
  rename: (model: string) => Promise<Q>,
): Promise<Q> {
  const alias = findAlias(query.model, account)
  return alias ? noteAlias(await rename(alias.model), alias) : query
}

/** The same for a request that was read before it was admitted, which is not large. */
export function resolveEarly(query: CompletionQuery, account: Account): CompletionQuery {
  const alias = findAlias(query.model, account)
  return alias ? noteAlias(withModel(query, alias.model), alias) : query
}

function noteAlias<Q extends RecordedQuery>(query: Q, alias: Alias): Q {
  return Object.assign(query, { alias })
}
