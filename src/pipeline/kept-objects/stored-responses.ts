/** Responses that are kept, here or by OpenAI, by id. */
import { invalidRequest, refuse } from '../../errors/errors.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import { isOwnResponseId, listInput } from '../../formats/responses/continued-input.ts'
import { call } from '../../postgres/call.ts'
import { PROVIDER_KEY } from '../../providers/balanced.ts'
import type { NamedVendor } from '../../providers/operations.ts'
import { entryName } from '../../stores/fast-store.ts'
import { passKept } from '../checks/check-kept.ts'
import { passedOn } from '../complete-call.ts'
import { holderOf } from '../kept-responses.ts'
import type { ProxyResponse } from '../request.ts'
import type { RequestContext, Stages } from '../request-context.ts'
import { bindRead, keeperOf } from './bind-made.ts'
import { mayName, withKeyOf } from './check-references.ts'

interface AskedResponse {
  id: string
  /** '' for the response itself. */
  part: string
  vendor?: NamedVendor
}

/** Throws 404 or 502 to 504, and what the hook refuses: a response that was made in the background was not seen before. */
export async function askResponse(
  context: RequestContext,
  asked: AskedResponse,
  stages: Stages,
): Promise<ProxyResponse> {
  const kept = await askKeeper(context, asked, stages)
  const hasAnswer = context.request.method !== 'DELETE' && asked.part !== '/input_items'
  return hasAnswer ? passKept(context, kept, stages) : kept
}

async function askKeeper(
  { request, account, provider }: RequestContext,
  { id, part, vendor }: AskedResponse,
  stages: Stages,
): Promise<ProxyResponse> {
  const { method, search, headers, signal } = request
  if (isOwnResponseId(id)) {
    const own = await answerOwn(stages, account, id, { method, part, search })
    if (method === 'DELETE') await forgetEntries(account, id, stages)
    return own
  }
  // Only OpenAI keeps responses, and a client of another vendor does not mean it.
  if (vendor !== undefined || !provider?.askStored || !(await mayName(stages.database, id, account, provider))) {
    throw refuse('responseNotKept', { id })
  }
  const keeper = await withKeyOf(stages.database, [{ id }], account, provider)
  if (!keeper.askStored) throw refuse('responseNotKept', { id })
  const answer = await keeper.askStored({ method, path: `/responses/${id}${part}`, query: search, headers, signal })
  if (method === 'DELETE' && answer.status === 200) await forgetEntries(account, id, stages)
  return {
    status: answer.status,
    headers: { ...passedOn(answer), 'x-proxy-provider': keeper.name },
    body: await bindRead(answer.body, {
      database: stages.database,
      account,
      keeper: keeperOf(keeper, answer.headers.get(PROVIDER_KEY)),
    }),
  }
}

/** Entries still being written are awaited: after a deletion, no cache hit may return the id of a response that is gone. */
async function forgetEntries(
  { project_id, cache_generation }: RequestContext['account'],
  id: string,
  { cache, database, store }: Stages,
): Promise<void> {
  await cache.flush()
  const gone = await call(database, 'forget_response', { of_project: project_id, response_id: id })
  const names = gone.map(({ request_hash }) => entryName(project_id, cache_generation, request_hash))
  await Promise.all(names.map(name => store.deleteEntry(name)))
}

/** Answers for a response that is kept here. Throws a 404 when it is not, for this key. */
async function answerOwn(
  { database, keptResponses }: Stages,
  account: RequestContext['account'],
  id: string,
  { method, part, search }: { method: string; part: string; search: string },
): Promise<ProxyResponse> {
  const turns = await keptResponses.find(id, account)
  const last = turns.at(-1)
  if (last?.id !== id) throw refuse('responseNotKept', { id })
  if (method === 'DELETE') {
    await call(database, 'forget_kept_response', { ...holderOf(account), response_id: id })
    return writeJson(JSON.stringify({ id, object: 'response', deleted: true }))
  }
  if (part === '/cancel') throw invalidRequest('Only a response that is made in the background can be cancelled.')
  if (part === '') return writeJson(last.response)
  return writeJson(JSON.stringify(pageOf(turns.flatMap(listInput), new URLSearchParams(search))))
}

const MOST_ITEMS = 100

/** As OpenAI lists input items: the latest first, unless asked otherwise. */
function pageOf(items: JsonObject[], search: URLSearchParams) {
  const size = Number(search.get('limit') ?? 20)
  if (!Number.isInteger(size) || size < 1 || size > MOST_ITEMS) {
    throw invalidRequest(`limit must be a whole number from 1 to ${MOST_ITEMS}.`, 'limit')
  }
  const ordered = search.get('order') === 'asc' ? items : items.toReversed()
  const after = search.get('after')
  const start = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1
  if (after !== null && start === 0) throw invalidRequest('after must be the id of an item in the list.', 'after')
  const data = ordered.slice(start, start + size)
  const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
  return { object: 'list', data, first_id, last_id, has_more: start + size < ordered.length }
}

function writeJson(body: string): ProxyResponse {
  return { status: 200, headers: { 'content-type': 'application/json' }, body }
}
