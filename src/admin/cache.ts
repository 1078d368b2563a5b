/** /v1/cache: what a project's cache holds, and making it forget. Answers themselves are not shown. */
import { t } from 'elysia'
import type { EntryRow } from '../postgres/admin/rows.ts'
import { cacheStats, invalidateCache, pageOfEntries, purgeCache } from '../postgres/admin/usage.ts'
import { type AdminOptions, createController } from './controller.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { pageQuery, pageSize, readCursor, toPage, toSeconds } from './pages.ts'
import { findProjectRow } from './projects.ts'

const strict = { additionalProperties: false }
const age = t.Optional(t.Integer({ minimum: 0, maximum: 315_360_000 }))
const selector = {
  model: t.Optional(t.String()),
  namespace: t.Optional(t.String()),
  older_than_seconds: age,
}
const NOTHING = { entry_id: null, of_model: null, of_namespace: null, older_than_seconds: null }

export function createCacheController(options: AdminOptions) {
  const { database } = options
  const ofProject = t.Object({ project_id: t.String() }, strict)

  return createController(options, '/v1/cache')
    .get(
      '/stats',
      async ({ caller, query }) => {
        const { id } = await findProjectRow(database, caller.actor, requireId('proj', query.project_id))
        const [stats] = await cacheStats(database, caller.actor, { of_project: id })
        if (stats === undefined) throw notFound('There is no such project.')
        const { oldest_at, newest_at, ...counts } = stats
        return {
          object: 'cache.stats' as const,
          ...counts,
          oldest_at: toSeconds(oldest_at),
          newest_at: toSeconds(newest_at),
        }
      },
      { query: ofProject },
    )
    .get(
      '/entries',
      async ({ caller, query: asked }) => {
        const { id } = await findProjectRow(database, caller.actor, requireId('proj', asked.project_id))
        const rows = await pageOfEntries(database, caller.actor, {
          of_project: id,
          only_entry: null,
          of_model: asked.model ?? null,
          of_namespace: asked.namespace ?? null,
          older_than_seconds: asked.older_than_seconds ?? null,
          before_id: readCursor('entry', asked.after) ?? null,
          page_size: pageSize(asked.limit),
        })
        return toPage(rows.map(describeEntry), asked.limit)
      },
      { query: t.Object({ project_id: t.String(), ...selector, ...pageQuery }, strict) },
    )
    .get(
      '/entries/:entry_id',
      async ({ caller, params, query }) => {
        const { id } = await findProjectRow(database, caller.actor, requireId('proj', query.project_id))
        const [row] = await pageOfEntries(database, caller.actor, {
          of_project: id,
          only_entry: requireId('entry', params.entry_id),
          of_model: null,
          of_namespace: null,
          older_than_seconds: null,
          before_id: null,
          page_size: 1,
        })
        if (row === undefined) throw notFound('There is no such entry in this project’s cache.')
        return describeEntry(row)
      },
      { query: ofProject },
    )
    .delete(
      '/entries/:entry_id',
      async ({ caller, params, query }) => {
        const project = requireId('proj', query.project_id)
        const entry = requireId('entry', params.entry_id)
        const [gone] = await invalidateCache(database, caller.actor, {
          ...NOTHING,
          project,
          entry_id: entry,
          dry_run: false,
        })
        if (!gone?.result) throw notFound('There is no such entry in this project’s cache.')
        return { object: 'cache.entry.deleted' as const, id: formatId('entry', entry), deleted: true }
      },
      { query: ofProject },
    )
    .post(
      '/invalidate',
      async ({ caller, body: { project_id, selector: chosen, dry_run = true } }) => {
        const project = requireId('proj', project_id)
        const { model = null, namespace = null, older_than_seconds = null } = chosen
        const all = model === null && namespace === null && older_than_seconds === null
        // All of it is a purge: vectors go too.
        const [done] =
          all && !dry_run
            ? await purgeCache(database, caller.actor, { project })
            : await invalidateCache(database, caller.actor, {
                project,
                entry_id: null,
                of_model: model,
                of_namespace: namespace,
                older_than_seconds,
                dry_run,
              })
        return { object: 'cache.invalidation' as const, entries: done?.result ?? 0, dry_run }
      },
      {
        body: t.Object(
          { project_id: t.String(), selector: t.Object(selector, strict), dry_run: t.Optional(t.Boolean()) },
          strict,
        ),
      },
    )
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
