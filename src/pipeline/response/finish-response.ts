/** What is kept of a response is the project's before the client learns of it; the ids in the client's own fields are none of that. */

import type { PipelineServices, RequestContext } from '../context/request-context.ts'
import { restoreEchoedFields } from '../conversations/echoed-fields.ts'
import { claimCreatedIds } from '../ownership/claim-ids.ts'
import type { CompletionQuery } from '../request/query.ts'
import type { ProxyResponse } from '../request/request.ts'

type Answered = Pick<RequestContext<CompletionQuery>, 'query' | 'resolvedKey' | 'provider'>

export async function finishResponse(
  { query, resolvedKey, provider }: Answered,
  response: ProxyResponse,
  { database, conversations }: PipelineServices,
): Promise<ProxyResponse> {
  const { canBeStored, echoedFields } = query
  const bound = canBeStored ? await claimCreatedIds({ query, resolvedKey, provider }, response, database) : response
  const own = echoedFields ? await restoreEchoedFields(echoedFields, bound, resolvedKey) : bound
  return canBeStored ? conversations.storeResponse({ query, resolvedKey }, own) : own
}
