/** /v1/requests: a project's requests, each with its story, as a list, one by one, and as a file. What they said and got stands apart, where it is kept. */
import type { Static, TObject } from '@sinclair/typebox'
import { t } from 'elysia'
import { nowSeconds } from '../../event-loop/clock.ts'
import { isCutName, nameEndUser } from '../../formats/end-user.ts'
import { type Actor, type AskedAs, callAs, type JsonRowOf } from '../../postgres/admin/call-as.ts'
import type { RecordedRequest } from '../../postgres/usage-record.ts'
import type { Wordings } from '../../providers/keys/wordings.ts'
import { pagesOf } from '../answers/shared.ts'
import { content, request } from '../answers/usage.ts'
import { exportItems, MOST_EXPORTED, REQUEST_COLUMNS, readPages } from '../export-items.ts'
import { textOf, unixSeconds } from '../field-types.ts'
import { requireProject } from '../find-objects.ts'
import { formatId, notFound, requireId } from '../ids.ts'
import { fromSeconds, oneOf, pageSize, several, toPage, toSeconds } from '../pages.ts'
import { type Operation, serveBy } from '../table-row.ts'
import { formatTimeCursor, readTimeCursor, type TimeCursor } from '../time-cursor.ts'
import { readTagFilter } from './usage.ts'

/** The list's time span when the query gives none. */
const DEFAULT_SPAN_SECONDS = 7 * 86_400
const time = t.Optional(unixSeconds)
const word = t.Optional(t.String({ maxLength: 256 }))
/** Which requests are meant, in which order. */
const chosen = {
  project_id: t.String(),
  start_time: time,
  end_time: time,
  api_key_id: t.Optional(t.String()),
  key_type: t.Optional(oneOf('project', 'test')),
  model: word,
  model_name: t.Optional(t.String()),
  endpoint: word,
  provider: word,
  cache_result: t.Optional(oneOf('HIT', 'HIT-SEMANTIC', 'MISS')),
  outcome: t.Optional(oneOf('ok', 'failed', 'estimated')),
  status: t.Optional(t.Integer({ minimum: 100, maximum: 599 })),
  error_code: word,
  end_user: t.Optional(t.String({ pattern: '^[^\\u0000]*$' })),
  request_id: word,
  tags: several(textOf({ pattern: '^[^=]+=.+$' })),
  sort: t.Optional(oneOf('newest', 'slowest', 'dearest')),
  after: t.Optional(t.String()),
}
const listQuery = { ...chosen, limit: t.Optional(t.Integer({ minimum: 1, maximum: 100 })) }
const exportQuery = {
  ...chosen,
  format: t.Optional(oneOf('csv', 'json')),
  limit: t.Optional(t.Integer({ minimum: 1, maximum: MOST_EXPORTED })),
}
const ofProject = { project_id: t.String() }
const tokens = t.Optional(t.Integer({ minimum: 0, maximum: 2_000_000_000 }))

type Chosen = Static<TObject<typeof chosen>>

function toFilter(asked: Chosen, ofProject: number) {
  const end = asked.end_time ?? nowSeconds() + 60
  return {
    of_project: ofProject,
    from_time: fromSeconds(asked.start_time ?? Math.max(0, end - DEFAULT_SPAN_SECONDS)),
    until_time: fromSeconds(end),
    of_key: asked.api_key_id === undefined ? null : requireId('key', asked.api_key_id),
    of_key_type: asked.key_type,
    model_part: asked.model,
    of_model: asked.model_name,
    of_endpoint: asked.endpoint,
    of_provider: asked.provider,
    of_result: asked.cache_result,
    of_outcome: asked.outcome,
    of_status: asked.status,
    of_error: asked.error_code,
    of_end_user: asked.end_user === undefined ? undefined : toRecorded(asked.end_user),
    of_request_id: asked.request_id,
    of_tags: readTagFilter(asked.tags),
    sorted: asked.sort ?? 'newest',
    ...toCursor(asked.after),
  }
}

/** The list shows long names cut, and is searched for what it shows. */
function toRecorded(name: string): string {
  return isCutName(name) ? name : nameEndUser(name)
}

function toCursor(after: string | undefined) {
  const cursor = after === undefined ? null : readTimeCursor(after)
  return { after_time: cursor?.at ?? null, after_request_id: cursor?.requestId ?? null }
}

export const REQUESTS: readonly Operation[] = [
  serveBy({
    ...{ method: 'GET', path: '/v1/requests', tag: 'Requests', summary: 'Find requests', answer: pagesOf(request) },
    query: listQuery,
    async serve({ caller, ids, query: { limit, ...asked } }) {
      await requireProject(caller.actor, ids.project_id)
      const rows = await find(caller.actor, { ...toFilter(asked, ids.project_id), page_size: pageSize(limit) })
      return toPage(rows.map(describeRequest), limit)
    },
  }),
  serveBy({
    ...{ method: 'GET', path: '/v1/requests/export', tag: 'Requests', answer: t.Array(request) },
    summary: 'Write requests to a file',
    otherAnswers: { 'text/csv': {} },
    query: exportQuery,
    async serve({ caller, ids, query: { format = 'csv', limit = MOST_EXPORTED, ...asked } }) {
      await requireProject(caller.actor, ids.project_id)
      // The span ends now, however long the export takes.
      const filter = toFilter(asked, ids.project_id)
      const pages = readPages(limit, async (after, most) => {
        const cursor = after === undefined ? {} : toCursor(after)
        const rows = await find(caller.actor, { ...filter, ...cursor, page_size: most })
        return rows.map(describeRequest)
      })
      return exportItems({ format, name: 'requests', columns: REQUEST_COLUMNS }, pages)
    },
  }),
  serveBy({
    ...{ method: 'GET', path: '/v1/requests/:request_id', tag: 'Requests', answer: request },
    summary: 'Read a request’s story',
    query: ofProject,
    async serve({ caller, ids }) {
      await requireProject(caller.actor, ids.project_id)
      return readRequest(caller.actor, ids.project_id, readTimeCursor(String(ids.request_id), 'request_id'))
    },
  }),
  serveBy({
    ...{ method: 'POST', path: '/v1/requests/:request_id/settle', tag: 'Requests', answer: request },
    summary: 'Settle a request whose cost is estimated',
    body: {
      ...ofProject,
      cost_usd: t.Number({ minimum: 0, maximum: 100_000 }),
      prompt_tokens: tokens,
      completion_tokens: tokens,
    },
    async serve({ caller, ids, body }) {
      const { name } = await requireProject(caller.actor, ids.project_id)
      const { at, requestId } = readTimeCursor(String(ids.request_id), 'request_id')
      await callAs(caller.actor, 'settle_request', {
        project: name,
        of_request: requestId,
        cost: body.cost_usd,
        read_tokens: body.prompt_tokens ?? null,
        written_tokens: body.completion_tokens ?? null,
        recorded: at,
      })
      return readRequest(caller.actor, ids.project_id, { at, requestId })
    },
  }),
  serveBy({
    ...{ method: 'GET', path: '/v1/requests/:request_id/content', tag: 'Requests', answer: content },
    summary: 'Read what a request said and got, where that is kept',
    query: ofProject,
    async serve({ caller, options: { wordings }, ids }) {
      await requireProject(caller.actor, ids.project_id)
      const { at, requestId } = readTimeCursor(String(ids.request_id), 'request_id')
      const [row] = await callAs(caller.actor, 'find_request_content', {
        of_project: ids.project_id,
        of_request_id: requestId,
        at,
      })
      if (row === undefined) throw notFound('The content of this request was not kept, or not for so long.')
      const [said, response] = await Promise.all([
        open(row.sealed_request, ids.project_id, wordings),
        open(row.sealed_response, ids.project_id, wordings),
      ])
      return { object: 'request.content', request: said, response }
    },
  }),
]

/** Reads one that a list has named from the primary: the standby that is asked next may not have it yet. */
async function readRequest(actor: Actor, ofProject: number, { at: recordedAt, requestId }: TimeCursor) {
  const at = Date.parse(recordedAt)
  const [row] = await callAs(actor, 'find_requests', {
    of_project: ofProject,
    from_time: new Date(at - 1).toISOString(),
    until_time: new Date(at + 1).toISOString(),
    of_request_id: requestId,
    page_size: 1,
  })
  if (row === undefined) throw notFound('There is no such request in this project.')
  return describeRequest(row)
}

function find(actor: Actor, filter: AskedAs<'find_requests'>) {
  return callAs(actor, 'find_requests', filter, { mayLag: true })
}

/** Text that was sealed; null where there is none, or no key opens it any more. */
function open(sealed: string | null | undefined, project: number, wordings: Wordings): Promise<string | null> | null {
  return sealed ? wordings.open(sealed, project) : null
}

function describeRequest({ record, key_name, key_prefix }: JsonRowOf<'find_requests'>) {
  const { key_id, project_id, ...rest } = record as RecordedRequest
  return {
    id: formatTimeCursor({ at: rest.recorded_at, requestId: rest.request_id }),
    object: 'request' as const,
    created_at: toSeconds(rest.recorded_at),
    ...rest,
    api_key_id: formatId('key', key_id),
    key_name,
    api_key_redacted_value: key_prefix === null ? null : `${key_prefix}…`,
  }
}
