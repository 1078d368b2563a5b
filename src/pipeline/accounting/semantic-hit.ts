/** What is recorded about a semantic match, so that people can give feedback on it. */
import { takeAskedText } from '../../cache/asked-text.ts'
import type { CacheQuery } from '../../cache/cache-query.ts'
import { hashScope } from '../../cache/cache-scope.ts'
import type { EntryFacts, NearMiss, SemanticMatch } from '../../cache/entry.ts'
import { type Catalogue, costUsd } from '../../catalogue/catalogue.ts'
import { recordedUserOf } from '../../formats/end-user.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import type { Account } from '../../postgres/admit.ts'

interface Matched {
  query: Pick<CacheQuery, 'identity' | 'semantic'>
  requestId: string
  account: Pick<Account, 'project_id' | 'key_id' | 'log_content'>
  model: string | undefined
  /** Null for a provider that is free. */
  pricedAs: string | null
  isShadow: boolean
}

/** What became of the match, for the metrics. */
export function outcomeOf({ reason }: Pick<SemanticMatch<EntryFacts> | NearMiss, 'reason'>, isShadow: boolean) {
  if (isShadow) return 'shadow'
  return reason === 'undecided' ? 'near-miss' : 'served'
}

export function describeSemanticHit(
  match: SemanticMatch<EntryFacts> | NearMiss,
  { requestId, account, query: { identity, semantic }, model, pricedAs, isShadow }: Matched,
  catalogue: Pick<Catalogue, 'find'>,
) {
  const { promptTokens, completionTokens } = match.entry
  const usage = { ...NO_USAGE, promptTokens, completionTokens }
  const asked = semantic()
  const isKept = account.log_content === 'sealed'
  return {
    ...match,
    difference: match.reason === 'undecided' ? match.difference : null,
    wording: isKept ? (takeAskedText(identity.endpoint, identity.body)?.text ?? null) : null,
    projectId: account.project_id,
    keyId: account.key_id,
    requestId,
    endUser: recordedUserOf(identity.body),
    scopeHash: typeof asked === 'string' ? null : hashScope(asked.verdictScope),
    isShadow,
    promptTokens,
    completionTokens,
    savedUsd: pricedAs === null || model === undefined ? 0 : (costUsd(catalogue.find(pricedAs, model), usage) ?? 0),
  }
}
