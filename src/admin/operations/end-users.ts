/** What is kept of one end user of a project: counted, written to a file, and forgotten. All of it takes an owner. */
import { t } from 'elysia'
import { shortenEndUser } from '../../formats/end-user.ts'
import { type Actor, callAsActor, type JsonRowOf } from '../../postgres/admin/call-as.ts'
import type { QuestionVault } from '../../providers/keys/question-vault.ts'
import { type AdminOperation, defineOperation } from '../admin-operation.ts'
import { type ExportItem, exportItems } from '../export-items.ts'
import { endUserSchema } from '../field-types.ts'
import { requireProject } from '../find-objects.ts'
import { formatId } from '../ids.ts'
import { stringEnum, toUnixSeconds } from '../pagination.ts'
import { endUserDataSchema, endUserErasureSchema, endUserItemSchema } from '../responses/end-users.ts'
import { pageSchema } from '../responses/shared.ts'
import { formatTimeCursor, readTimeCursor } from '../time-cursor.ts'

const named = { end_user: endUserSchema }
const BASE = '/v1/organization/projects/:project_id/end_users'

/** They may have long texts. */
const ITEMS_A_PAGE = 100
const FORGOTTEN_AT_ONCE = 10_000
/** Long before a proxy between here and the caller gives up. */
const FORGETS_FOR_MS = 20_000

export const END_USER_OPERATIONS: readonly AdminOperation[] = [
  defineOperation({
    ...{ method: 'GET', path: `${BASE}/data`, tag: 'End users', response: pageSchema(endUserDataSchema) },
    summary: 'Count what is kept of an end user',
    query: named,
    async serve({ caller, ids, query }) {
      await requireProject(caller.actor, ids.project_id)
      const found = await callAsActor(caller.actor, 'find_end_user', who(ids, query))
      const data = found.map(row => ({ object: 'end_user.data' as const, ...row }))
      const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
      return { object: 'list', data, first_id, last_id, has_more: false }
    },
  }),
  defineOperation({
    ...{ method: 'GET', path: `${BASE}/export`, tag: 'End users', response: t.Array(endUserItemSchema) },
    summary: 'Write all that is kept of an end user to a file',
    otherResponses: { 'text/csv': {} },
    query: { ...named, format: t.Optional(stringEnum('csv', 'json')) },
    async serve({ caller, options, ids, query: { format = 'json', ...query } }) {
      await requireProject(caller.actor, ids.project_id)
      const asked = who(ids, query)
      const found = await callAsActor(caller.actor, 'export_end_user', asked)
      const pages = readAll(caller.actor, asked, { kinds: found.map(({ id }) => id), wordings: options.wordingReader })
      const file = { format, name: 'end-user', columns: Object.keys(endUserItemSchema.properties) }
      return exportItems(file, pages)
    },
  }),
  defineOperation({
    ...{ method: 'POST', path: `${BASE}/forget`, tag: 'End users', response: endUserErasureSchema },
    summary: 'Forget an end user, or count first what that takes',
    body: { ...named, dry_run: t.Optional(t.Boolean()) },
    async serve({ caller, ids, body: { dry_run = true, ...body } }) {
      await requireProject(caller.actor, ids.project_id)
      const asked = who(ids, body)
      const found = await callAsActor(caller.actor, 'forget_end_user', { ...asked, dry_run })
      const isForgotten = dry_run || (await forgetItems(caller.actor, asked, found))
      const data = found.map(row => ({ object: 'end_user.data' as const, ...row }))
      return { object: 'end_user.forgetting', data, dry_run, has_more: !isForgotten }
    },
  }),
]

interface Who {
  project: number
  of_user: string
}

function who({ project_id }: { project_id: number }, { end_user }: { end_user: string }): Who {
  return { project: project_id, of_user: shortenEndUser(end_user) }
}

/** One short change after the other. Returns whether nothing is left. */
async function forgetItems(actor: Actor, asked: Who, found: readonly { id: string }[]): Promise<boolean> {
  const until = performance.now() + FORGETS_FOR_MS
  for (const { id } of found) {
    let forgotten: number
    do {
      if (performance.now() > until) return false
      const part = { ...asked, of_kind: id, at_most: FORGOTTEN_AT_ONCE }
      forgotten = await callAsActor(actor, 'forget_end_user_items', part)
    } while (forgotten >= FORGOTTEN_AT_ONCE)
  }
  return true
}

/** Page by page, one kind after the other. */
async function* readAll(
  actor: Actor,
  asked: Who,
  { kinds, wordings }: { kinds: readonly string[]; wordings: QuestionVault },
): AsyncGenerator<readonly ExportItem[], void> {
  for (const of_kind of kinds) {
    let after: string | undefined
    do {
      const cursor = after === undefined ? null : readTimeCursor(after)
      const start = { after_time: cursor?.at, after_id: cursor?.requestId }
      const rows = await callAsActor(actor, 'list_end_user_items', {
        ...asked,
        of_kind,
        ...start,
        page_size: ITEMS_A_PAGE,
      })
      const items = await Promise.all(rows.map(row => describeItem(of_kind, row, asked.project, wordings)))
      if (items.length > 0) yield items
      after = items.length < ITEMS_A_PAGE ? undefined : items.at(-1)?.id
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
