/** Responses that OpenAI keeps for a project, by id. Asking for one costs nothing, and does not count against the month. */
import type { Admission } from '../admission/admission.ts'
import { hashBearerKey } from '../admission/api-key.ts'
import type { Cache } from '../cache/cache.ts'
import { refuse } from '../errors.ts'
import type { Database } from '../postgres/database.ts'
import { forgetResponse } from '../postgres/forget-response.ts'
import type { ModelRouter } from '../providers/model-router.ts'
import type { StoredRequest } from '../providers/upstream.ts'
import { entryName, type FastStore } from '../stores/fast-store.ts'
import type { ProxyRequest, ProxyResponse } from './exchange.ts'

export type StoredResponses = (
  caller: Pick<ProxyRequest, 'authorization' | 'address' | 'whenOver'>,
  asked: Omit<StoredRequest, 'path'> & { id: string /** '' for the response itself. */; part: string },
) => Promise<ProxyResponse>

export interface StoredResponsesOptions {
  admission: Pick<Admission, 'authenticate'>
  modelRouter: ModelRouter
  cache: Pick<Cache, 'flush'>
  database: Database
  store: Pick<FastStore, 'deleteEntry'>
}

/** Throws 401, 403, 404, 429 or 503. */
export function createStoredResponses({
  admission,
  modelRouter,
  cache,
  database,
  store,
}: StoredResponsesOptions): StoredResponses {
  return async (caller, { id, part, ...asked }) => {
    const account = await admission.authenticate(hashBearerKey(caller.authorization), caller)
    const keeper = modelRouter.keeperOf(account)
    if (!keeper?.askStored) throw refuse('responseNotKept', { id })
    const answer = await keeper.askStored({ ...asked, path: `/responses/${id}${part}` })
    if (asked.method === 'DELETE' && answer.status === 200) {
      // Entries still being written are awaited: after a deletion, no cache hit may return the id of a response that is gone.
      await cache.flush()
      const hashes = await forgetResponse(database, account.project_id, id)
      const names = hashes.map(hash => entryName(account.project_id, account.cache_generation, hash))
      await Promise.all(names.map(name => store.deleteEntry(name)))
    }
    const headers = { ...Object.fromEntries(answer.headers), 'x-proxy-provider': keeper.name }
    return { status: answer.status, headers, body: answer.body }
  }
}
