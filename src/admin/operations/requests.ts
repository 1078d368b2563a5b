/** /v1/requests: the request log of a project, as a list, single requests, and a file. Contents are a separate object, if they are stored. */
import { Type as t } from '@sinclair/typebox'
import { nowSeconds } from '../../event-loop/clock.ts'
import { toRecordedEndUser } from '../../formats/end-user.ts'
import { type Actor, type ActorArguments, callAsActor, type JsonRowOf } from '../../postgres/admin/call-as.ts'
import type { UsageRecordRow } from '../../postgres/usage-record.ts'
import type { QuestionVault } from '../../providers/keys/question-vault.ts'
import { type AdminOperation, defineOperation, type FieldValues } from '../admin-operation.ts'
import { exportItems, MAX_EXPORTED_ITEMS, REQUEST_EXPORT_COLUMNS, readPages } from '../export-items.ts'
import { tagFilterSchema, unixSecondsParameter } from '../field-types.ts'
import { requireProject } from '../find-objects.ts'
import { formatId, notFoundError, requireId } from '../ids.ts'
import {
  formatTimeCursor,
  fromUnixSeconds,
  parseTimeCursor,
  repeatableParameter,
  rowLimit,
  stringEnum,
  type TimeCursor,
  toPage,
  toUnixSeconds,
} from '../pagination.ts'
import { requestContentSchema, requestFilterSchema, requestSchema } from '../responses/requests.ts'
import { listSchema, pageSchema } from '../responses/shared.ts'
import { readTagFilter } from './usage.ts'

/** The default time range of the list. */
const DEFAULT_SPAN_SECONDS = 7 * 86_400
/** The maximum number of values of each kind of filter. */
const MAX_FILTER_VALUES = 200
const time = t.Optional(unixSecondsParameter)
const word = t.Optional(t.String({ maxLength: 256 }))
/** The filter and the order of requests. */
const selection = {
  project_id: t.String(),
  start_time: time,
  end_time: time,
  api_key_id: t.Optional(t.String()),
  key_type: t.Optional(stringEnum('project', 'test')),
  model: word,
  model_name: t.Optional(t.String()),
  endpoint: word,
  provider: word,
  cache_result: t.Optional(stringEnum('HIT', 'HIT-SEMANTIC', 'MISS')),
  outcome: t.Optional(stringEnum('ok', 'failed', 'client_error', 'server_error', 'estimated')),
  status: t.Optional(t.Integer({ minimum: 100, maximum: 599 })),
  error_code: word,
  end_user: t.Optional(t.String()),
  request_id: word,
  asked_id: word,
  session: t.Optional(t.String()),
  tags: repeatableParameter(tagFilterSchema),
  sort: t.Optional(stringEnum('newest', 'slowest', 'dearest')),
  after: t.Optional(t.String()),
}
const listQuery = { ...selection, limit: t.Optional(t.Integer({ minimum: 1, maximum: 100 })) }
const exportQuery = {
  ...selection,
  format: t.Optional(stringEnum('csv', 'json')),
  limit: t.Optional(t.Integer({ minimum: 1, maximum: MAX_EXPORTED_ITEMS })),
}
const ofProject = { project_id: t.String() }
const tokens = t.Optional(t.Integer({ minimum: 0, maximum: 2_000_000_000 }))

type Selection = FieldValues<typeof selection>

function toFilter(asked: Selection, ofProject: number) {
  const end = asked.end_time ?? nowSeconds() + 60
  return {
    of_project: ofProject,
    from_time: fromUnixSeconds(asked.start_time ?? startOf(asked, end)),
    until_time: fromUnixSeconds(end),
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
    of_end_user: asked.end_user === undefined ? undefined : toRecordedEndUser(asked.end_user),
    of_request_id: asked.request_id,
    of_asked_id: asked.asked_id,
    of_session: asked.session === undefined ? undefined : toRecordedEndUser(asked.session),
    of_tags: readTagFilter(asked.tags),
    sorted: asked.sort ?? 'newest',
    ...toCursor(asked.after),
  }
}

/** Returns the default start. A request with a known id is found at any age. */
function startOf({ request_id }: Pick<Selection, 'request_id'>, end: number): number {
  return request_id === undefined ? Math.max(0, end - DEFAULT_SPAN_SECONDS) : 0
}

function toCursor(after: string | undefined) {
  const cursor = after === undefined ? null : parseTimeCursor(after)
  return { after_time: cursor?.at ?? null, after_request_id: cursor?.requestId ?? null }
}

export const REQUEST_OPERATIONS: readonly AdminOperation[] = [
  defineOperation({
    ...{
      method: 'GET',
      path: '/v1/requests',
      tag: 'Requests',
      summary: 'Find requests',
      response: pageSchema(requestSchema),
    },
    query: listQuery,
    async serve({ caller, ids, query: { limit, ...asked } }) {
      const rows = await find(caller.actor, { ...toFilter(asked, ids.project_id), page_size: rowLimit(limit) })
      return toPage(rows.map(describeRequest), limit)
    },
  }),
  defineOperation({
    ...{ method: 'GET', path: '/v1/requests/export', tag: 'Requests', response: t.Array(requestSchema) },
    summary: 'Export requests to a file',
    otherResponses: { 'text/csv': {} },
    query: exportQuery,
    async serve({ caller, ids, query: { format = 'csv', limit = MAX_EXPORTED_ITEMS, ...asked } }) {
      // The time range ends now, however long the export takes.
      const filter = toFilter(asked, ids.project_id)
      const pages = readPages(limit, async (after, size) => {
        const cursor = after === undefined ? {} : toCursor(after)
        const rows = await find(caller.actor, { ...filter, ...cursor, page_size: size })
        return rows.map(describeRequest)
      })
      return exportItems({ format, name: 'requests', columns: REQUEST_EXPORT_COLUMNS }, pages)
    },
  }),
  defineOperation({
    ...{ method: 'GET', path: '/v1/requests/filters', tag: 'Requests', response: listSchema(requestFilterSchema) },
    summary: 'List the values by which requests can be filtered',
    query: { ...ofProject, start_time: time, end_time: time },
    async serve({ caller, ids, query }) {
      const { from_time, until_time } = toFilter(query, ids.project_id)
      const asked = { of_project: ids.project_id, from_time, until_time, max_values: MAX_FILTER_VALUES }
      const values = await callAsActor(caller.actor, 'request_filter_values', asked, { mayLag: true })
      return { object: 'list' as const, data: values.map(describeFilter), has_more: false }
    },
  }),
  defineOperation({
    ...{ method: 'GET', path: '/v1/requests/:request_id', tag: 'Requests', response: requestSchema },
    summary: 'Read a request',
    query: ofProject,
    async serve({ caller, ids }) {
      return readRequest(caller.actor, ids.project_id, parseTimeCursor(String(ids.request_id), 'request_id'))
    },
  }),
  defineOperation({
    ...{ method: 'POST', path: '/v1/requests/:request_id/settle', tag: 'Requests', response: requestSchema },
    summary: 'Set the cost of a request whose cost is estimated',
    body: {
      ...ofProject,
      cost_usd: t.Number({ minimum: 0, maximum: 100_000 }),
      prompt_tokens: tokens,
      completion_tokens: tokens,
    },
    async serve({ caller, ids, body }) {
      const { name } = await requireProject(caller.actor, ids.project_id)
      const { at, requestId } = parseTimeCursor(String(ids.request_id), 'request_id')
      await callAsActor(caller.actor, 'settle_request', {
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
  defineOperation({
    ...{ method: 'GET', path: '/v1/requests/:request_id/content', tag: 'Requests', response: requestContentSchema },
    summary: 'Read the contents of a request and its response, if they are stored',
    query: ofProject,
    async serve({ caller, options: { wordingReader }, ids }) {
      const { at, requestId } = parseTimeCursor(String(ids.request_id), 'request_id')
      const [row] = await callAsActor(caller.actor, 'find_request_content', {
        of_project: ids.project_id,
        of_request_id: requestId,
        at,
      })
      if (row === undefined) throw notFoundError('The content of this request was not stored, or has expired.')
      const [request, response] = await Promise.all([
        open(row.sealed_request, ids.project_id, wordingReader),
        open(row.sealed_response, ids.project_id, wordingReader),
      ])
      return { object: 'request.content', request, response }
    },
  }),
]

/** Reads a request from the primary, because another standby than that of the list may not have it yet. */
async function readRequest(actor: Actor, ofProject: number, { at: recordedAt, requestId }: TimeCursor) {
  const at = Date.parse(recordedAt)
  const [row] = await callAsActor(actor, 'find_requests', {
    of_project: ofProject,
    from_time: new Date(at - 1).toISOString(),
    until_time: new Date(at + 1).toISOString(),
    of_request_id: requestId,
    page_size: 1,
  })
  if (row === undefined) throw notFoundError('There is no such request in this project.')
  return describeRequest(row)
}

function find(actor: Actor, filter: ActorArguments<'find_requests'>) {
  return callAsActor(actor, 'find_requests', filter, { mayLag: true })
}

/** Decrypts a text. Returns null if there is none, or if its encryption key is missing. */
function open(
  sealed: string | null | undefined,
  project: number,
  wordings: QuestionVault,
): Promise<string | null> | null {
  return sealed ? wordings.open(sealed, project) : null
}

function describeRequest({ record, ...key }: JsonRowOf<'find_requests'>) {
  const { key_id, project_id, ...rest } = record as UsageRecordRow
  return {
    id: formatTimeCursor({ at: rest.recorded_at, requestId: rest.request_id }),
    object: 'request' as const,
    created_at: toUnixSeconds(rest.recorded_at),
    ...rest,
    api_key_id: formatId('key', key_id),
    ...key,
  }
}

function describeFilter({ kind, value, requests }: JsonRowOf<'request_filter_values'>) {
  return { kind, value: kind === 'api_key' ? formatId('key', Number(value)) : value, requests }
}
