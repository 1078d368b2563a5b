/** /v1/cache: lists a project's cache entries, shows them to members where texts are kept, and invalidates them. */
import { t } from 'elysia'
import type { Actor } from '../postgres/admin/act-as.ts'
import type { CacheStatsRow, EntryRow } from '../postgres/admin/rows.ts'
import {
  cacheStats,
  findEntries,
  invalidateCache,
  pageOfEntries,
  purgeCache,
  readEntry,
} from '../postgres/admin/usage.ts'
import { cacheEntry, entryContent, invalidation, stats } from './answers/cache.ts'
import { deleted, pagesOf, text } from './answers/shared.ts'
import { type AdminOptions, createController } from './controller.ts'
import { strict } from './field-types.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { operation } from './operation.ts'
import { pageQueryOf, pageSize, readCursor, toPage, toSeconds } from './pages.ts'
import { findProject } from './projects.ts'

const age = t.Optional(t.Integer({ minimum: 0, maximum: 315_360_000 }))
const selector = {
  model: t.Optional(t.String()),
  namespace: t.Optional(t.String()),
  older_than_seconds: age,
}
const entriesAsked = t.Object(
  {
    project_id: t.String(),
    ...selector,
    question: t.Optional(t.String({ minLength: 1, maxLength: 500 })),
    ...pageQueryOf('entry'),
  },
  strict,
)
const invalidationAsked = t.Object(
  { project_id: t.String(), selector: t.Object(selector, strict), dry_run: t.Optional(t.Boolean()) },
  strict,
)
export function createCacheController(options: AdminOptions) {
  const ofProject = t.Object({ project_id: t.String() }, strict)

  return createController(options, '/v1/cache', 'Cache')
    .get(
      '/stats',
      async ({ caller, query }) => {
        const { id } = await findProject(caller.actor, query.project_id)
        const [found] = await cacheStats(caller.actor, { of_project: id })
        if (found === undefined) throw notFound('There is no such project.')
        return describeStats(found)
      },
      operation('Count what a project’s cache holds', stats, { query: ofProject }),
    )
    .get(
      '/entries',
      async ({ caller, query: asked }) => {
        const rows = await readEntries(caller.actor, asked)
        return toPage(rows.map(describeEntry), asked.limit)
      },
      operation('List stored answers, without what they say', pagesOf(cacheEntry), { query: entriesAsked }),
    )
    .get(
      '/entries/:entry_id',
      async ({ caller, params, query }) => {
        const { id } = await findProject(caller.actor, query.project_id)
        const only_entry = requireId('entry', params.entry_id)
        const [row] = await pageOfEntries(caller.actor, { of_project: id, only_entry, page_size: 1 })
        if (row === undefined) throw notFound('There is no such entry in this project’s cache.')
        return describeEntry(row)
      },
      operation('Read a stored answer’s entry', cacheEntry, { query: ofProject }),
    )
    .get(
      '/entries/:entry_id/content',
      async ({ caller, params, query }) => {
        const { id } = await findProject(caller.actor, query.project_id)
        const of_entry = requireId('entry', params.entry_id)
        const [row] = await readEntry(caller.actor, { of_project: id, of_entry })
        if (row === undefined) throw notFound('There is no such entry in this project’s cache.')
        return { object: 'cache.entry.content' as const, id: formatId('entry', of_entry), ...row }
      },
      operation('Read what a stored answer says', entryContent, { query: ofProject }),
    )
    .delete(
      '/entries/:entry_id',
      async ({ caller, params, query }) => {
        const project = requireId('proj', query.project_id)
        const entry_id = requireId('entry', params.entry_id)
        const [invalidated] = await invalidateCache(caller.actor, { project, entry_id, dry_run: false })
        if (!invalidated?.result) throw notFound('There is no such entry in this project’s cache.')
        return { object: 'cache.entry.deleted' as const, id: formatId('entry', entry_id), deleted: true }
      },
      operation('Delete a stored answer', deleted('cache.entry', { id: text }), { query: ofProject }),
    )
    .post(
      '/invalidate',
      async ({ caller, body: { project_id, selector: chosen, dry_run = true } }) => {
        const project = requireId('proj', project_id)
        const entries = await invalidate(caller.actor, chosen, { project, dry_run })
        return { object: 'cache.invalidation' as const, entries, dry_run }
      },
      operation('Delete stored answers, or count them first', invalidation, { body: invalidationAsked }),
    )
}

async function readEntries(actor: Actor, asked: typeof entriesAsked.static): Promise<EntryRow[]> {
  const { id } = await findProject(actor, asked.project_id)
  const filter = { ...toFilter(asked), of_project: id }
  return asked.question === undefined
    ? pageOfEntries(actor, filter)
    : findEntries(actor, { ...filter, question_part: asked.question })
}

function toFilter({ model, namespace, older_than_seconds, after, limit }: typeof entriesAsked.static) {
  return {
    of_model: model,
    of_namespace: namespace,
    older_than_seconds,
    before_id: readCursor('entry', after),
    page_size: pageSize(limit),
  }
}

/** Returns how many entries were deleted, or with `dry_run` would be. */
async function invalidate(
  actor: Actor,
  { model, namespace, older_than_seconds }: typeof invalidationAsked.static.selector,
  target: { project: number; dry_run: boolean },
): Promise<number> {
  const chosen = { of_model: model, of_namespace: namespace, older_than_seconds }
  const isAll = Object.values(chosen).every(value => value === undefined)
  // Without a filter this is a purge, which deletes vectors too.
  const [done] =
    isAll && !target.dry_run ? await purgeCache(actor, target) : await invalidateCache(actor, { ...target, ...chosen })
  return done?.result ?? 0
}

function describeStats({ oldest_at, newest_at, ...counts }: CacheStatsRow) {
  return {
    object: 'cache.stats' as const,
    ...counts,
    oldest_at: toSeconds(oldest_at),
    newest_at: toSeconds(newest_at),
  }
}

function describeEntry(row: EntryRow) {
  return {
    ...row,
    id: formatId('entry', row.id),
    object: 'cache.entry' as const,
    created_at: toSeconds(row.created_at),
    expires_at: toSeconds(row.expires_at),
  }
}
