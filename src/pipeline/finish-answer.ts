/** What is kept of a response is the project's before the client learns of it; the ids in the client's own fields are none of that. */
import { bindMade } from './kept-objects/bind-made.ts'
import { withOwnFields } from './own-fields.ts'
import type { CompletionQuery } from './query.ts'
import type { ProxyResponse } from './request.ts'
import type { RequestContext, Stages } from './request-context.ts'

type Answered = Pick<RequestContext<CompletionQuery>, 'query' | 'account' | 'provider'>

export async function finishAnswer(
  { query, account, provider }: Answered,
  response: ProxyResponse,
  { database, conversations }: Stages,
): Promise<ProxyResponse> {
  const { mayBeKept, ownFields } = query
  const bound = mayBeKept ? await bindMade({ query, account, provider }, response, database) : response
  const own = ownFields ? await withOwnFields(ownFields, bound, account) : bound
  return mayBeKept ? conversations.keep({ query, account }, own) : own
}
