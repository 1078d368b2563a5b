/** Responses that are kept, here or by OpenAI, by id. */
import { invalidRequest, refuse } from '../../errors/errors.ts'
import type { Held } from '../../event-loop/stream-memory.ts'
import { type JsonObject, parseJsonObject } from '../../formats/json/canonical.ts'
import { listInput } from '../../formats/responses/continued-input.ts'
import { isOwnResponseId } from '../../formats/responses/earlier-items.ts'
import type { Account } from '../../postgres/admit.ts'
import { call } from '../../postgres/call.ts'
import { PROVIDER_KEY } from '../../providers/balanced.ts'
import type { NamedVendor } from '../../providers/operations.ts'
import { entryName } from '../../stores/fast-store.ts'
import { checkSearch, passKept } from '../checks/check-kept.ts'
import { passedOn } from '../complete-call.ts'
import { holderOf, type KeptResponse } from '../kept-responses.ts'
import type { ProxyResponse } from '../request.ts'
import type { RequestContext, Stages } from '../request-context.ts'
import { SSE_TYPE } from '../response-headers.ts'
import { replayStream } from '../serve-hit.ts'
import { bindRead, keeperOf } from './bind-made.ts'
import { mayName, withKeyOf } from './check-references.ts'
import { type AskedOfKept, askUnfinished } from './unfinished-responses.ts'

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
  await checkSearch(context, stages)
  const kept = await askKeeper(context, asked, stages)
  return context.request.method === 'DELETE' ? kept : passKept(context, kept, stages)
}

async function askKeeper(
  { request, account, provider }: RequestContext,
  { id, part, vendor }: AskedResponse,
  stages: Stages,
): Promise<ProxyResponse> {
  const { method, search, headers, signal } = request
  const turns = await stages.keptResponses.find(id, account)
  const last = turns.at(-1)
  if (last?.id === id) {
    const asked = { method, part, query: search, headers, held: request.held, signal }
    const own = await answerOwn([...turns.slice(0, -1), last], asked, account, stages)
    if (method === 'DELETE') await forgetEntries(account, id, stages)
    return own
  }
  // Only OpenAI keeps responses, and a client of another vendor does not mean it.
  const isElsewhere = !isOwnResponseId(id) && vendor === undefined && provider?.askStored
  if (!isElsewhere || !(await mayName(stages.database, id, account, provider))) throw refuse('responseNotKept', { id })
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

/** Answers for a response that is kept here, the last of these turns. */
async function answerOwn(
  turns: [...KeptResponse[], KeptResponse],
  asked: AskedOfKept & { held: Held },
  account: Account,
  stages: Stages,
): Promise<ProxyResponse> {
  const { database, keptResponses: kept, modelRouter } = stages
  const last = turns.at(-1) as KeptResponse
  const { id } = last
  const { method, part } = asked
  const search = new URLSearchParams(asked.query)
  if (method === 'DELETE') {
    // Its provider has a copy, if it keeps any.
    if (!isOwnResponseId(id)) await askUnfinished(last, asked, account, { kept, modelRouter }).catch(() => {})
    await call(database, 'forget_kept_response', { ...holderOf(account), response_id: id })
    return writeJson(JSON.stringify({ id, object: 'response', deleted: true }))
  }
  if (part === '/input_items') return writeJson(JSON.stringify(pageOf(turns.flatMap(listInput), search)))
  if (last.unfinished) return askUnfinished(last, asked, account, { kept, modelRouter })
  const isAside = parseJsonObject(last.response)?.background === true
  if (part === '/cancel' && !isAside)
    throw invalidRequest('Only a response that is made in the background can be cancelled.')
  if (search.get('stream') !== 'true') return writeJson(last.response)
  // Its provider knows which events its client has had.
  const again = isAside && (await askUnfinished(last, asked, account, { kept, modelRouter }).catch(() => null))
  return again && again.status === 200 ? again : writeStream(last, account, asked.held)
}

function writeStream({ response }: KeptResponse, account: Account, held: Held): ProxyResponse {
  const replayed = { endpoint: 'responses', includeUsage: true } as const
  const body = replayStream(new TextEncoder().encode(response), replayed, { account, held })
  return { status: 200, headers: { ...SSE_TYPE }, body }
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
