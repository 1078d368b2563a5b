/** Cache entries of a project: lists them, shows their contents to members if contents are stored, and deletes them. */
import { Type as t } from '@sinclair/typebox'
import { nowSeconds } from '../../event-loop/clock.ts'
import { shortenEndUser } from '../../formats/end-user.ts'
import { type Actor, callAsActor } from '../../postgres/admin/call-as.ts'
import { readView } from '../../postgres/admin/read-view.ts'
import type { QuestionVault } from '../../providers/keys/question-vault.ts'
import { type AdminOperation, defineOperation, type FieldValues } from '../admin-operation.ts'
import { defineDelete, defineProjectCollection, defineRead } from '../define-operations.ts'
import { endUserSchema, STRICT_OBJECT } from '../field-types.ts'
import { formatId, notFoundError, requireId } from '../ids.ts'
import { defineObject } from '../objects.ts'
import { fromUnixSeconds, idPageQuery, readCursor, rowLimit, toPage } from '../pagination.ts'
import { cacheEntryContentSchema, cacheScopesSchema, cacheStatsSchema, invalidationSchema } from '../responses/cache.ts'
import { pageSchema } from '../responses/shared.ts'

const selector = {
  model: t.Optional(t.String()),
  namespace: t.Optional(t.String()),
  version: t.Optional(t.String()),
  older_than_seconds: t.Optional(t.Integer({ minimum: 0, maximum: 315_360_000 })),
  api_key_id: t.Optional(t.String()),
  end_user: t.Optional(endUserSchema),
}
const ofProject = { project_id: t.String() }

const cacheEntry = defineObject(
  'CacheEntry',
  'cache.entry',
  'cached_responses',
  'entry',
  "There is no such entry in this project's cache.",
)
const entries = defineProjectCollection(cacheEntry, {
  tag: 'Cache',
  basePath: '/v1/cache/entries',
  idParameter: 'entry_id',
})
const question = t.Optional(
  t.String({ description: 'The beginning of the question, if entries were searched by question.' }),
)
const cacheEntryWithQuestion = t.Object({ ...cacheEntry.schema.properties, question }, { $id: 'CacheEntry' })

type Selector = FieldValues<typeof selector>

export const CACHE_OPERATIONS: readonly AdminOperation[] = [
  defineOperation({
    ...{ method: 'GET', path: '/v1/cache/stats', tag: 'Cache', response: cacheStatsSchema },
    summary: 'Count a project’s cache entries',
    query: ofProject,
    async serve({ caller, ids }) {
      const [counted] = await callAsActor(caller.actor, 'cache_stats', { of_project: ids.project_id })
      return { object: 'cache.stats', ...counted }
    },
  }),
  defineOperation({
    ...{ method: 'GET', path: '/v1/cache/scopes', tag: 'Cache', response: cacheScopesSchema },
    summary: 'Compare the hit rates of sharing scopes',
    query: ofProject,
    async serve({ caller, ids }) {
      const compared = await callAsActor(caller.actor, 'compare_scopes', { of_project: ids.project_id })
      return { object: 'cache.scopes', scopes: compared }
    },
  }),
  defineOperation({
    ...{ method: 'GET', path: '/v1/cache/entries', tag: 'Cache', response: pageSchema(cacheEntryWithQuestion) },
    summary: 'List cache entries, without their contents',
    query: {
      ...ofProject,
      ...selector,
      question: t.Optional(t.String({ minLength: 1, maxLength: 500 })),
      ...idPageQuery('entry'),
    },
    async serve({ caller, options, ids, query }) {
      const page = { before: readCursor('entry', query.after), size: rowLimit(query.limit) }
      const read = query.question === undefined ? readNewest : findByQuestion
      const rows = await read(caller.actor, ids.project_id, query, page, options.wordingReader)
      return toPage(
        rows.map(row => ({ object: cacheEntry.kind, ...row })),
        query.limit,
      )
    },
  }),
  defineRead(entries, 'Read a cache entry'),
  defineOperation({
    ...{ method: 'GET', path: '/v1/cache/entries/:entry_id/content', tag: 'Cache', response: cacheEntryContentSchema },
    summary: 'Read the content of a cache entry',
    kinds: { entry_id: 'entry' },
    query: ofProject,
    async serve({ caller, options: { wordingReader }, ids }) {
      const named = { of_project: ids.project_id, of_entry: ids.entry_id }
      const [content] = await callAsActor(caller.actor, 'read_cache_entry', named)
      if (content === undefined) throw notFoundError(cacheEntry.notFoundMessage)
      const open = (text: string | null) => wordingReader.openStored(text, ids.project_id)
      const [question, response] = await Promise.all([open(content.question), open(content.response)])
      if (response === null)
        throw notFoundError('This response can no longer be decrypted, because its encryption key is missing.')
      return { object: 'cache.entry.content', id: formatId('entry', ids.entry_id), question, response }
    },
  }),
  defineDelete(entries, 'Delete a cache entry', [
    'invalidate_cache',
    ({ ids }) => ({ project: ids.project_id, entry_id: ids.entry_id, dry_run: false }),
  ]),
  defineOperation({
    ...{ method: 'POST', path: '/v1/cache/invalidate', tag: 'Cache', response: invalidationSchema },
    summary: 'Delete cache entries, or count them with dry_run',
    body: { ...ofProject, selector: t.Object(selector, STRICT_OBJECT), dry_run: t.Optional(t.Boolean()) },
    async serve({ caller, ids, body: { selector: selected, dry_run = true } }) {
      const { older_than_seconds } = selected
      const query = { ...filterOf(selected), project: ids.project_id, older_than_seconds, dry_run }
      const [counted] = await callAsActor(caller.actor, 'invalidate_cache', query)
      return { object: 'cache.invalidation', ...counted, dry_run }
    },
  }),
]

function filterOf({ model, namespace, version, api_key_id: key, end_user: user }: Selector) {
  return {
    of_model: model,
    of_namespace: namespace,
    of_version: version,
    of_key: key === undefined ? undefined : requireId('key', key),
    of_user: user === undefined ? undefined : shortenEndUser(user),
  }
}

interface EntryPage {
  /** The id of the entry before which the page starts. */
  before: number | undefined
  size: number
}

function storedBefore({ older_than_seconds: age }: Selector): string | undefined {
  return age === undefined ? undefined : fromUnixSeconds(nowSeconds() - age)
}

function readNewest(actor: Actor, project: number, query: Selector, { before, size }: EntryPage) {
  const { of_model, of_namespace, of_version, of_key, of_user } = filterOf(query)
  const filter = {
    ...{ _project_id: project, _model: of_model, _namespace: of_namespace, _version: of_version, _key_id: of_key },
    _end_user: of_user,
    _created_at: { until: storedBefore(query) },
  }
  return readView(actor, 'cached_responses', filter, { after: before, newestFirst: true, size })
}

async function findByQuestion(
  actor: Actor,
  project: number,
  query: Selector & { question?: string },
  page: EntryPage,
  wordings: QuestionVault,
) {
  const found = await findQuestions(actor, project, query, page, wordings)
  const questionOf = new Map(found.map(({ entry_id, question }) => [formatId('entry', entry_id), question]))
  const filter = { _project_id: project, _id: found.map(({ entry_id }) => entry_id) }
  const rows = await readView(actor, 'cached_responses', filter, { newestFirst: true })
  return rows.map(row => ({ ...row, question: questionOf.get(row.id) }))
}

const MAX_SEARCHED_ENTRIES = 50_000
const SEARCH_PAGE_SIZE = 1_000
const MAX_QUESTION_LENGTH = 500

/** Finds entries by a part of the question. PostgreSQL searches plain questions; sealed ones are decrypted here, until the page is full. */
async function findQuestions(
  actor: Actor,
  project: number,
  query: Selector & { question?: string },
  { before = null, size }: { before?: number | null | undefined; size: number },
  wordings: QuestionVault,
) {
  const { question: part = '' } = query
  const selected = {
    ...filterOf(query),
    of_project: project,
    question_part: part,
    stored_before: storedBefore(query),
  }
  const found: { entry_id: number; question: string }[] = []
  let last = before
  let pageSize = size
  for (let searched = 0; found.length < size && searched < MAX_SEARCHED_ENTRIES; pageSize = SEARCH_PAGE_SIZE) {
    const rows = await callAsActor(actor, 'find_cache_entries', { ...selected, before_id: last, page_size: pageSize })
    for (const { entry_id, question: stored } of rows) {
      const question = await wordings.openStored(stored, project)
      const fits = question === stored || question?.toLowerCase().includes(part.toLowerCase())
      if (question !== null && fits) found.push({ entry_id, question: question.slice(0, MAX_QUESTION_LENGTH) })
    }
    if (rows.length < pageSize) break
    searched += rows.length
    last = rows.at(-1)?.entry_id ?? null
  }
  return found.slice(0, size)
}
