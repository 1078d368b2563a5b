/** Responses that OpenAI keeps for a project, by id. */
import { refuse } from '../../errors.ts'
import { forgetResponse } from '../../postgres/forget-response.ts'
import { entryName } from '../../stores/fast-store.ts'
import { passedOn } from '../complete-call.ts'
import type { ProxyResponse } from '../request.ts'
import type { RequestContext, Stages } from '../request-context.ts'

/** `part` is '' for the response itself. Throws 404 or 502 to 504. */
export async function askResponse(
  { request, account, provider }: RequestContext,
  { id, part }: { id: string; part: string },
  { cache, database, store }: Stages,
): Promise<ProxyResponse> {
  const { method, search, headers, signal } = request
  if (!provider?.askStored) throw refuse('responseNotKept', { id })
  const answer = await provider.askStored({ method, path: `/responses/${id}${part}`, query: search, headers, signal })
  if (method === 'DELETE' && answer.status === 200) {
    // Entries still being written are awaited: after a deletion, no cache hit may return the id of a response that is gone.
    await cache.flush()
    const hashes = await forgetResponse(database, account.project_id, id)
    const names = hashes.map(hash => entryName(account.project_id, account.cache_generation, hash))
    await Promise.all(names.map(name => store.deleteEntry(name)))
  }
  return {
    status: answer.status,
    headers: { ...passedOn(answer), 'x-proxy-provider': provider.name },
    body: answer.body,
  }
}
