/** Describes a semantic match for its record, so that people can give feedback on it. */

import type { CacheQuery } from '../../cache/cache-query.ts'
import { hashScope } from '../../cache/cache-scope.ts'
import type { EntryMetadata, NearMiss, SemanticMatch } from '../../cache/entry.ts'
import { extractPromptText } from '../../cache/prompt-text.ts'
import { type Catalogue, computeCostUsd } from '../../catalogue/catalogue.ts'
import { recordedEndUserOf } from '../../formats/end-user.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'

interface MatchedRequest {
  query: Pick<CacheQuery, 'identity' | 'semantic'>
  requestId: string
  resolvedKey: Pick<ResolvedKey, 'project_id' | 'key_id' | 'log_content'>
  model: string | undefined
  /** The provider whose prices apply; null if the provider is free. */
  pricedAs: string | null
  isShadow: boolean
}

/** Returns the match's outcome, as metrics name it. */
export function describeMatchOutcome(
  { reason }: Pick<SemanticMatch<EntryMetadata> | NearMiss, 'reason'>,
  isShadow: boolean,
) {
  if (isShadow) return 'shadow'
  return reason === 'undecided' ? 'near-miss' : 'served'
}

export function describeSemanticHit(
  match: SemanticMatch<EntryMetadata> | NearMiss,
  { requestId, resolvedKey, query: { identity, semantic }, model, pricedAs, isShadow }: MatchedRequest,
  catalogue: Pick<Catalogue, 'find'>,
) {
  const { promptTokens, completionTokens } = match.entry
  const usage = { ...NO_USAGE, promptTokens, completionTokens }
  const semanticQuery = semantic()
  const logsContent = resolvedKey.log_content === 'sealed'
  return {
    ...match,
    difference: match.reason === 'undecided' ? match.difference : null,
    wording: logsContent ? (extractPromptText(identity.endpoint, identity.body)?.text ?? null) : null,
    projectId: resolvedKey.project_id,
    keyId: resolvedKey.key_id,
    requestId,
    endUser: recordedEndUserOf(identity.body),
    scopeHash: typeof semanticQuery === 'string' ? null : hashScope(semanticQuery.verdictScope),
    isShadow,
    promptTokens,
    completionTokens,
    savedUsd:
      pricedAs === null || model === undefined ? 0 : (computeCostUsd(catalogue.find(pricedAs, model), usage) ?? 0),
  }
}
