/** What a project's cache holds: listed, shown to members where texts are kept, and invalidated. */
import type { Static } from '@sinclair/typebox'
import { t } from 'elysia'
import { nowSeconds } from '../../event-loop/clock.ts'
import { type Actor, callAs } from '../../postgres/admin/call-as.ts'
import { readView } from '../../postgres/admin/read-view.ts'
import { entryContent, invalidation, scopes, stats } from '../answers/cache.ts'
import { pagesOf } from '../answers/shared.ts'
import { strict } from '../field-types.ts'
import { requireProject } from '../find-objects.ts'
import { formatId, notFound } from '../ids.ts'
import { object } from '../objects.ts'
import { collectionOfProject, read, remove } from '../operations.ts'
import { fromSeconds, pageQueryOf, pageSize, readCursor, toPage } from '../pages.ts'
import { type Operation, serveBy } from '../table-row.ts'

const selector = {
  model: t.Optional(t.String()),
  namespace: t.Optional(t.String()),
  older_than_seconds: t.Optional(t.Integer({ minimum: 0, maximum: 315_360_000 })),
}
const ofProject = { project_id: t.String() }

const cacheEntry = object(
  'CacheEntry',
  'cache.entry',
  'cached_answers',
  'entry',
  "There is no such entry in this project's cache.",
)
const entries = collectionOfProject(cacheEntry, { tag: 'Cache', base: '/v1/cache/entries', own: 'entry_id' })
const question = t.Optional(t.String({ description: 'Its beginning, where entries are found by it.' }))
const found = t.Object({ ...cacheEntry.schema.properties, question }, { $id: 'CacheEntry' })

type Selector = { [Field in keyof typeof selector]?: Static<(typeof selector)[Field]> }

export const CACHE: readonly Operation[] = [
  serveBy({
    ...{ method: 'GET', path: '/v1/cache/stats', tag: 'Cache', answer: stats },
    summary: 'Count what a project’s cache holds',
    query: ofProject,
    async serve({ caller, ids }) {
      await requireProject(caller.actor, ids.project_id)
      const [counted] = await callAs(caller.actor, 'cache_stats', { of_project: ids.project_id })
      return { object: 'cache.stats', ...counted }
    },
  }),
  serveBy({
    ...{ method: 'GET', path: '/v1/cache/scopes', tag: 'Cache', answer: scopes },
    summary: 'Compare whom answers could be shared with',
    query: ofProject,
    async serve({ caller, ids }) {
      const of_project = ids.project_id
      await requireProject(caller.actor, of_project)
      const compared = await callAs(caller.actor, 'compare_scopes', { of_project })
      return { object: 'cache.scopes', scopes: compared }
    },
  }),
  serveBy({
    ...{ method: 'GET', path: '/v1/cache/entries', tag: 'Cache', answer: pagesOf(found) },
    summary: 'List stored answers, without what they say',
    query: {
      ...ofProject,
      ...selector,
      question: t.Optional(t.String({ minLength: 1, maxLength: 500 })),
      ...pageQueryOf('entry'),
    },
    async serve({ caller, ids, query }) {
      await requireProject(caller.actor, ids.project_id)
      const page = { before: readCursor('entry', query.after), size: pageSize(query.limit) }
      const read = query.question === undefined ? readNewest : findByQuestion
      const rows = await read(caller.actor, ids.project_id, query, page)
      return toPage(
        rows.map(row => ({ object: cacheEntry.kind, ...row })),
        query.limit,
      )
    },
  }),
  read(entries, 'Read a stored answer’s entry'),
  serveBy({
    ...{ method: 'GET', path: '/v1/cache/entries/:entry_id/content', tag: 'Cache', answer: entryContent },
    summary: 'Read what a stored answer says',
    kinds: { entry_id: 'entry' },
    query: ofProject,
    async serve({ caller, ids }) {
      await requireProject(caller.actor, ids.project_id)
      const named = { of_project: ids.project_id, of_entry: ids.entry_id }
      const [content] = await callAs(caller.actor, 'read_cache_entry', named)
      if (content === undefined) throw notFound(cacheEntry.missing)
      return { object: 'cache.entry.content', id: formatId('entry', ids.entry_id), ...content }
    },
  }),
  remove(entries, 'Delete a stored answer', [
    'invalidate_cache',
    ({ ids }) => ({ ...filterOf({}), project: ids.project_id, entry_id: ids.entry_id, dry_run: false }),
  ]),
  serveBy({
    ...{ method: 'POST', path: '/v1/cache/invalidate', tag: 'Cache', answer: invalidation },
    summary: 'Delete stored answers, or count them first',
    body: { ...ofProject, selector: t.Object(selector, strict), dry_run: t.Optional(t.Boolean()) },
    async serve({ caller, ids, body: { selector: chosen, dry_run = true } }) {
      const project = ids.project_id
      // Without a filter this is a purge, which deletes vectors too.
      const isPurge = !dry_run && Object.values(chosen).every(value => value === undefined)
      const entries = isPurge
        ? await callAs(caller.actor, 'purge_cache', { project })
        : await callAs(caller.actor, 'invalidate_cache', { ...filterOf(chosen), project, entry_id: null, dry_run })
      return { object: 'cache.invalidation', entries, dry_run }
    },
  }),
]

function filterOf({ model, namespace, older_than_seconds: age }: Selector) {
  return { of_model: model ?? null, of_namespace: namespace ?? null, older_than_seconds: age ?? null }
}

interface Before {
  /** An entry's id. */
  before: number | undefined
  size: number
}

function storedBefore({ older_than_seconds: age }: Selector): string | undefined {
  return age === undefined ? undefined : fromSeconds(nowSeconds() - age)
}

function readNewest(actor: Actor, project: number, asked: Selector, { before, size }: Before) {
  const filter = {
    ...{ _project_id: project, _model: asked.model, _namespace: asked.namespace },
    _created_at: { until: storedBefore(asked) },
  }
  return readView(actor, 'cached_answers', filter, { after: before, newestFirst: true, size })
}

async function findByQuestion(
  actor: Actor,
  project: number,
  asked: Selector & { question?: string },
  { before, size }: Before,
) {
  const { of_model, of_namespace } = filterOf(asked)
  const found = await callAs(actor, 'find_cache_entries', {
    ...{ of_project: project, question_part: asked.question ?? '', of_model, of_namespace },
    ...{ stored_before: storedBefore(asked) ?? null, before_id: before ?? null, page_size: size },
  })
  const questionOf = new Map(found.map(({ entry_id, question }) => [formatId('entry', entry_id), question]))
  const filter = { _project_id: project, _id: found.map(({ entry_id }) => entry_id) }
  const rows = await readView(actor, 'cached_answers', filter, { newestFirst: true })
  return rows.map(row => ({ ...row, question: questionOf.get(row.id) }))
}
