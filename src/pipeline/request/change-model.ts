/** Replaces a request's model: by the model of an alias, or by a fallback. */
import type { LargeBodyReader } from '../../formats/large-bodies/read-large-body.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { findModelAlias, type ModelAlias } from '../../providers/aliases.ts'
import { setFieldsInLongBody } from '../../providers/long-body.ts'
import { parseRequestBytes, replaceModel } from './parse-request.ts'
import type { CompletionQuery, RecordedQuery } from './query.ts'
import type { ProxyRequest } from './request.ts'

/** What reading or changing a body takes, besides its bytes. */
export interface BodyOptions {
  resolvedKey: Pick<ResolvedKey, 'project_id'>
  body: ProxyRequest['body']
  largeBodies: LargeBodyReader
}

/** Returns the request with another model. A worker rewrites and parses a large body. */
export async function changeModel(
  query: CompletionQuery,
  model: string,
  { resolvedKey: { project_id: owner }, body, largeBodies }: BodyOptions,
): Promise<CompletionQuery> {
  if (!query.bytes) return replaceModel(query, model)
  const { bytes: bodyBytes, endpoint, headers } = query
  const bytes = await setFieldsInLongBody({ bodyBytes, owner }, { model })
  return parseRequestBytes({ endpoint, headers, body }, bytes, largeBodies, owner)
}

/** Replaces an alias by its model. `rename` returns the request with another model. Runs before any lookup or call. */
export async function resolveAlias<Q extends RecordedQuery>(
  query: Q,
  resolvedKey: ResolvedKey,
  rename: (model: string) => Promise<Q>,
): Promise<Q> {
  const alias = findModelAlias(query.model, resolvedKey)
  return alias ? setAlias(await rename(alias.model), alias) : query
}

/** Like `resolveAlias`, for a request that was read before it was admitted; such a request is never large. */
export function resolveAliasSync(query: CompletionQuery, resolvedKey: ResolvedKey): CompletionQuery {
  if (resolvedKey.aliases.length === 0) return query
  const alias = findModelAlias(query.model, resolvedKey)
  return alias ? setAlias(replaceModel(query, alias.model), alias) : query
}

function setAlias<Q extends RecordedQuery>(query: Q, alias: ModelAlias): Q {
  return Object.assign(query, { alias })
}
