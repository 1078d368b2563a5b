/** GET /v1/requests: a project's requests, each with its outcome. Prompts and responses are not included. */
import { t } from 'elysia'
import type { RequestRow } from '../postgres/admin/rows.ts'
import { pageOfRequests } from '../postgres/admin/usage.ts'
import { type AdminOptions, createController } from './controller.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { fromSeconds, oneOf, pageSize, toPage, toSeconds } from './pages.ts'
import { findProjectRow } from './projects.ts'
import { formatTimeCursor, readTimeCursor } from './time-cursor.ts'

/** The list's time span when the query gives none. */
const DEFAULT_SPAN_SECONDS = 7 * 86_400
const time = t.Optional(t.Integer({ minimum: 0, maximum: 100_000_000_000 }))
const NO_FILTER = {
  of_key: null,
  of_model: null,
  of_result: null,
  of_outcome: null,
  before_time: null,
  before_request_id: null,
}

const filter = t.Object(
  {
    project_id: t.String(),
    start_time: time,
    end_time: time,
    api_key_id: t.Optional(t.String()),
    model: t.Optional(t.String()),
    cache_result: t.Optional(oneOf('HIT', 'HIT-SEMANTIC', 'MISS')),
    outcome: t.Optional(oneOf('ok', 'failed')),
    request_id: t.Optional(t.String()),
    after: t.Optional(t.String()),
    limit: t.Optional(t.Integer({ minimum: 1, maximum: 100 })),
  },
  { additionalProperties: false },
)

export function createRequestsController(options: AdminOptions) {
  const { database } = options
  return createController(options, '/v1/requests')
    .get(
      '',
      async ({ caller, query: asked }) => {
        const { id } = await findProjectRow(database, caller.actor, requireId('proj', asked.project_id))
        const end = asked.end_time ?? Math.floor(Date.now() / 1000) + 60
        const cursor = asked.after === undefined ? null : readTimeCursor(asked.after)
        const rows = await pageOfRequests(database, caller.actor, {
          of_project: id,
          from_time: fromSeconds(asked.start_time ?? end - DEFAULT_SPAN_SECONDS),
          until_time: fromSeconds(end),
          of_key: asked.api_key_id === undefined ? null : requireId('key', asked.api_key_id),
          of_model: asked.model ?? null,
          of_result: asked.cache_result ?? null,
          of_outcome: asked.outcome ?? null,
          of_request_id: asked.request_id ?? null,
          before_time: cursor?.at ?? null,
          before_request_id: cursor?.requestId ?? null,
          page_size: pageSize(asked.limit),
        })
        return toPage(rows.map(describeRequest), asked.limit)
      },
      { query: filter },
    )
    .get(
      '/:request_id',
      async ({ caller, params, query: { project_id } }) => {
        const { id } = await findProjectRow(database, caller.actor, requireId('proj', project_id))
        const { at: recordedAt, requestId } = readTimeCursor(params.request_id, 'request_id')
        const at = Date.parse(recordedAt)
        const [row] = await pageOfRequests(database, caller.actor, {
          ...NO_FILTER,
          of_project: id,
          from_time: new Date(at - 1).toISOString(),
          until_time: new Date(at + 1).toISOString(),
          of_request_id: requestId,
          page_size: 1,
        })
        if (row === undefined) throw notFound('There is no such request in this project.')
        return describeRequest(row)
      },
      { query: t.Object({ project_id: t.String() }, { additionalProperties: false }) },
    )
}

function describeRequest(row: RequestRow) {
  const { recorded_at, key_id, key_prefix, ...rest } = row
  return {
    id: formatTimeCursor({ at: row.recorded_at, requestId: row.request_id }),
    object: 'request' as const,
    created_at: toSeconds(recorded_at),
    recorded_at,
    ...rest,
    api_key_id: formatId('key', key_id),
    api_key_redacted_value: key_prefix === null ? null : `${key_prefix}…`,
  }
}
