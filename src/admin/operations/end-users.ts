/** The end users of a project, and the data of one: counts, exports and deletes it, which requires an owner. */
import { Type as t } from '@sinclair/typebox'
import { toRecordedEndUser } from '../../formats/end-user.ts'
import { type Actor, callAsActor, type JsonRowOf } from '../../postgres/admin/call-as.ts'
import type { QuestionVault } from '../../providers/keys/question-vault.ts'
import { type AdminOperation, defineOperation } from '../admin-operation.ts'
import { type ExportItem, exportItems } from '../export-items.ts'
import { endUserSchema } from '../field-types.ts'
import { requireProject } from '../find-objects.ts'
import { formatId } from '../ids.ts'
import {
  formatTimeCursor,
  limitParameter,
  parseTimeCursor,
  readTimeRange,
  rowLimit,
  stringEnum,
  timeRangeQuery,
  toPage,
  toUnixSeconds,
} from '../pagination.ts'
import {
  endUserDataSchema,
  endUserErasureSchema,
  endUserItemSchema,
  endUserUsageSchema,
} from '../responses/end-users.ts'
import { hitRateOf, pageSchema } from '../responses/shared.ts'

const named = { end_user: endUserSchema }
const BASE = '/v1/organization/projects/:project_id/end_users'

/** Pages are small, because items may have long texts. */
const ITEMS_PAGE_SIZE = 100
const DELETE_BATCH_SIZE = 10_000
/** The time limit of a deletion. It is shorter than the timeouts of proxies in front of this one. */
const DELETE_TIME_LIMIT_MS = 20_000

export const END_USER_OPERATIONS: readonly AdminOperation[] = [
  defineOperation({
    ...{ method: 'GET', path: BASE, tag: 'End users', response: pageSchema(endUserUsageSchema) },
    summary: 'List the end users that requests name',
    query: {
      ...timeRangeQuery,
      key_type: t.Optional(stringEnum('project', 'test')),
      name_contains: t.Optional(t.String()),
      after: t.Optional(t.String()),
      limit: limitParameter,
    },
    async serve({ caller, ids, query: { limit, ...asked } }) {
      const filter = {
        of_project: ids.project_id,
        ...readTimeRange(asked),
        of_key_type: asked.key_type,
        name_part: asked.name_contains,
        after_name: asked.after,
        page_size: rowLimit(limit),
      }
      const rows = await callAsActor(caller.actor, 'list_end_users', filter, { mayLag: true })
      const toItem = ({ name, ...usage }: JsonRowOf<'list_end_users'>) => ({
        id: name,
        object: 'end_user' as const,
        ...usage,
        hit_rate: hitRateOf(usage),
      })
      return toPage(rows.map(toItem), limit)
    },
  }),
  defineOperation({
    ...{ method: 'GET', path: `${BASE}/data`, tag: 'End users', response: pageSchema(endUserDataSchema) },
    summary: 'Count the stored data of an end user',
    query: named,
    async serve({ caller, ids, query }) {
      const found = await callAsActor(caller.actor, 'find_end_user', endUserOf(ids, query))
      const data = found.map(row => ({ object: 'end_user.data' as const, ...row }))
      const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
      return { object: 'list', data, first_id, last_id, has_more: false }
    },
  }),
  defineOperation({
    ...{ method: 'GET', path: `${BASE}/export`, tag: 'End users', response: t.Array(endUserItemSchema) },
    summary: 'Export all data of an end user',
    otherResponses: { 'text/csv': {} },
    query: { ...named, format: t.Optional(stringEnum('csv', 'json')) },
    async serve({ caller, options, ids, query: { format = 'json', ...query } }) {
      const endUser = endUserOf(ids, query)
      const found = await callAsActor(caller.actor, 'export_end_user', endUser)
      const pages = readAll(caller.actor, endUser, {
        kinds: found.map(({ id }) => id),
        wordings: options.wordingReader,
      })
      const file = { format, name: 'end-user', columns: Object.keys(endUserItemSchema.properties) }
      return exportItems(file, pages)
    },
  }),
  defineOperation({
    ...{ method: 'POST', path: `${BASE}/forget`, tag: 'End users', response: endUserErasureSchema },
    summary: 'Delete all data of an end user, or count it with dry_run',
    body: { ...named, dry_run: t.Optional(t.Boolean()) },
    async serve({ caller, ids, body: { dry_run = true, ...body } }) {
      await requireProject(caller.actor, ids.project_id)
      const endUser = endUserOf(ids, body)
      const found = await callAsActor(caller.actor, 'forget_end_user', { ...endUser, dry_run })
      const isForgotten = dry_run || (await deleteItems(caller.actor, endUser, found))
      const data = found.map(row => ({ object: 'end_user.data' as const, ...row }))
      return { object: 'end_user.forgetting', data, dry_run, has_more: !isForgotten }
    },
  }),
]

interface EndUser {
  project: number
  of_user: string
}

function endUserOf({ project_id }: { project_id: number }, { end_user }: { end_user: string }): EndUser {
  return { project: project_id, of_user: toRecordedEndUser(end_user) }
}

/** Deletes items in small batches. Returns false if the time limit ended it before all were deleted. */
async function deleteItems(actor: Actor, endUser: EndUser, found: readonly { id: string }[]): Promise<boolean> {
  const until = performance.now() + DELETE_TIME_LIMIT_MS
  for (const { id } of found) {
    let deleted: number
    do {
      if (performance.now() > until) return false
      const part = { ...endUser, of_kind: id, max_rows: DELETE_BATCH_SIZE }
      deleted = await callAsActor(actor, 'forget_end_user_items', part)
    } while (deleted >= DELETE_BATCH_SIZE)
  }
  return true
}

/** Reads all items, kind by kind, in pages. */
async function* readAll(
  actor: Actor,
  endUser: EndUser,
  { kinds, wordings }: { kinds: readonly string[]; wordings: QuestionVault },
): AsyncGenerator<readonly ExportItem[], void> {
  for (const of_kind of kinds) {
    let after: string | undefined
    do {
      const cursor = after === undefined ? null : parseTimeCursor(after)
      const start = { after_time: cursor?.at, after_id: cursor?.requestId }
      const rows = await callAsActor(actor, 'list_end_user_items', {
        ...endUser,
        of_kind,
        ...start,
        page_size: ITEMS_PAGE_SIZE,
      })
      const items = await Promise.all(rows.map(row => describeItem(of_kind, row, endUser.project, wordings)))
      if (items.length > 0) yield items
      after = items.length < ITEMS_PAGE_SIZE ? undefined : items.at(-1)?.id
    } while (after !== undefined)
  }
}

async function describeItem(
  kind: string,
  { id, at, key_id, bytes, record, ...texts }: JsonRowOf<'list_end_user_items'>,
  project: number,
  wordings: QuestionVault,
) {
  const read = async (text: string | null, sealed: string | null) =>
    sealed === null ? wordings.openStored(text, project) : wordings.open(sealed, project)
  return {
    object: 'end_user.item' as const,
    id: formatTimeCursor({ at, requestId: id }),
    kind,
    name: id,
    created_at: toUnixSeconds(at),
    api_key_id: key_id === null ? null : formatId('key', key_id),
    bytes,
    question: await read(texts.question, texts.sealed_question),
    answer: await read(texts.answer, texts.sealed_answer),
    record,
  }
}
