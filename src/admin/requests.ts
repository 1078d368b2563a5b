/** /v1/requests: a project's requests, each with its story, as a list, one by one, and as a file. What they said and got stands apart, where it is kept. */
import { t } from 'elysia'
import { nowSeconds } from '../event-loop/clock.ts'
import type { RequestRow } from '../postgres/admin/rows.ts'
import { findRequest, findRequestContent, findRequests } from '../postgres/admin/usage.ts'
import type { Wordings } from '../providers/keys/wordings.ts'
import { pagesOf } from './answers/shared.ts'
import { content, request } from './answers/usage.ts'
import { type AdminOptions, createController } from './controller.ts'
import { exportItems, MOST_EXPORTED } from './export-requests.ts'
import { strict, textOf, unixSeconds } from './field-types.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { operation } from './operation.ts'
import { fromSeconds, oneOf, pageSize, several, toPage, toSeconds } from './pages.ts'
import { findProject } from './projects.ts'
import { formatTimeCursor, readTimeCursor } from './time-cursor.ts'
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
  model: word,
  endpoint: word,
  provider: word,
  cache_result: t.Optional(oneOf('HIT', 'HIT-SEMANTIC', 'MISS')),
  outcome: t.Optional(oneOf('ok', 'failed')),
  status: t.Optional(t.Integer({ minimum: 100, maximum: 599 })),
  error_code: word,
  end_user: word,
  request_id: word,
  tags: several(textOf({ pattern: '^[^=]+=.+$' })),
  sort: t.Optional(oneOf('newest', 'slowest', 'dearest')),
  after: t.Optional(t.String()),
}
const listQuery = t.Object({ ...chosen, limit: t.Optional(t.Integer({ minimum: 1, maximum: 100 })) }, strict)

const exportQuery = t.Object(
  {
    ...chosen,
    format: t.Optional(oneOf('csv', 'json')),
    limit: t.Optional(t.Integer({ minimum: 1, maximum: MOST_EXPORTED })),
  },
  strict,
)

type Chosen = Omit<(typeof listQuery)['static'], 'limit'>

function toFilter(asked: Chosen, ofProject: number) {
  const end = asked.end_time ?? nowSeconds() + 60
  return {
    of_project: ofProject,
    from_time: fromSeconds(asked.start_time ?? Math.max(0, end - DEFAULT_SPAN_SECONDS)),
    until_time: fromSeconds(end),
    of_key: asked.api_key_id === undefined ? null : requireId('key', asked.api_key_id),
    model_part: asked.model,
    of_endpoint: asked.endpoint,
    of_provider: asked.provider,
    of_result: asked.cache_result,
    of_outcome: asked.outcome,
    of_status: asked.status,
    of_error: asked.error_code,
    of_end_user: asked.end_user,
    of_request_id: asked.request_id,
    of_tags: readTagFilter(asked.tags),
    sorted: asked.sort ?? 'newest',
    ...toCursor(asked.after),
  }
}

function toCursor(after: string | undefined) {
  const cursor = after === undefined ? null : readTimeCursor(after)
  return { after_time: cursor?.at, after_request_id: cursor?.requestId ?? null }
}

export function createRequestsController(options: AdminOptions) {
  const { wordings } = options
  return createController(options, '/v1/requests', 'Requests')
    .get(
      '',
      async ({ caller, query: { limit, ...asked } }) => {
        const { id } = await findProject(caller.actor, asked.project_id)
        const filter = { ...toFilter(asked, id), page_size: pageSize(limit) }
        const rows = await findRequests(caller.actor, filter)
        return toPage(rows.map(describeRequest), limit)
      },
      operation('Find requests', pagesOf(request), { query: listQuery }),
    )
    .get(
      '/export',
      async ({ caller, query: { format = 'csv', limit = MOST_EXPORTED, ...asked } }) => {
        const { id } = await findProject(caller.actor, asked.project_id)
        // The span ends now, however long the export takes.
        const filter = toFilter(asked, id)
        return exportItems(format, limit, async (after, most) => {
          const cursor = after === undefined ? {} : toCursor(after)
          const rows = await findRequests(caller.actor, { ...filter, ...cursor, page_size: most })
          return rows.map(describeRequest)
        })
      },
      operation('Write requests to a file', t.Array(request), { query: exportQuery }, { 'text/csv': {} }),
    )
    .get(
      '/:request_id',
      async ({ caller, params, query: { project_id } }) => {
        const { id } = await findProject(caller.actor, project_id)
        const { at: recordedAt, requestId } = readTimeCursor(params.request_id, 'request_id')
        const at = Date.parse(recordedAt)
        const [row] = await findRequest(caller.actor, {
          sorted: 'newest',
          of_project: id,
          from_time: new Date(at - 1).toISOString(),
          until_time: new Date(at + 1).toISOString(),
          of_request_id: requestId,
          page_size: 1,
        })
        if (row === undefined) throw notFound('There is no such request in this project.')
        return describeRequest(row)
      },
      operation('Read a request’s story', request, { query: t.Object({ project_id: t.String() }, strict) }),
    )
    .get(
      '/:request_id/content',
      async ({ caller, params, query: { project_id } }) => {
        const { id } = await findProject(caller.actor, project_id)
        const { at, requestId: of_request_id } = readTimeCursor(params.request_id, 'request_id')
        const [row] = await findRequestContent(caller.actor, { of_project: id, of_request_id, at })
        if (row === undefined) throw notFound('The content of this request was not kept, or not for so long.')
        const [said, response] = await Promise.all([
          open(row.sealed_request, id, wordings),
          open(row.sealed_response, id, wordings),
        ])
        return { object: 'request.content' as const, request: said, response }
      },
      operation('Read what a request said and got, where that is kept', content, {
        query: t.Object({ project_id: t.String() }, strict),
      }),
    )
}

/** Text that was sealed; null where there is none, or no key opens it any more. */
function open(sealed: string | null | undefined, project: number, wordings: Wordings): Promise<string | null> | null {
  return sealed ? wordings.open(sealed, project) : null
}

function describeRequest({ record, key_name, key_prefix }: RequestRow) {
  const { key_id, project_id, ...rest } = record
  return {
    id: formatTimeCursor({ at: record.recorded_at, requestId: record.request_id }),
    object: 'request' as const,
    created_at: toSeconds(record.recorded_at),
    ...rest,
    api_key_id: formatId('key', key_id),
    key_name,
    api_key_redacted_value: key_prefix === null ? null : `${key_prefix}…`,
  }
}
