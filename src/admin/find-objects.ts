/** Finds the objects that an operation is about: in a view, and below what its path names. */
import type { TProperties } from '@sinclair/typebox'
import { type Actor, callAs } from '../postgres/admin/call-as.ts'
import { type Page, readView } from '../postgres/admin/read-view.ts'
import { VIEWS } from '../postgres/admin/views.generated.ts'
import type { Filter, Shown, ViewName } from '../postgres/admin/views.ts'
import type { Caller } from './caller.ts'
import type { AdminOptions } from './controller.ts'
import { notFound } from './ids.ts'
import { type ApiObject, NO_PROJECT } from './objects.ts'
import type { Tag } from './parameters.ts'

/** What a request asks of an operation. */
// biome-ignore lint/suspicious/noExplicitAny: the row of the table says what they are
export interface Asked<Ids = any, Query = any, Body = any> {
  caller: Caller
  options: AdminOptions
  /** What its path names: ids as numbers, names as text. */
  ids: Ids
  query: Query
  body: Body
}

/**
 * Where objects of one kind are: the path of all, and the parameter behind it that names one; empty where there is only one. `Path` has all
 * that names them.
 */
export interface Collection<View extends ViewName, Path extends string, Own extends string> {
  object: ApiObject<View>
  tag: Tag
  base: string
  own: Own
  /** What each operation's query has: the project, where no path names it. */
  query?: TProperties
  /** Never set: carries the type. */
  path?: Path
  /** The functions that change one refuse what is not there, so that it is not looked for before. */
  functionsRefuse?: boolean
  /** Of those that projects have, too, the organization's: of no project, and for administrators. */
  isOrganizations?: boolean
}

/** Throws a 404 for a project that the caller may not see. */
export async function requireProject(actor: Actor, id: number): Promise<Shown<'organization_projects'>> {
  const [found] = await readView(actor, 'organization_projects', { _id: id }, { size: 1 })
  if (!found) throw notFound(NO_PROJECT)
  return found
}

export async function readObjects<View extends ViewName>(
  { object }: Collection<View, string, string>,
  { caller }: Asked,
  filter: Filter<View>,
  page?: Page,
) {
  const rows = await readView(caller.actor, object.view, filter, page)
  return rows.map(row => ({ ...(object.kind && { object: object.kind }), ...row }))
}

/** Throws a 404 where the caller may not see the project in the path, a 403 where it takes an administrator. */
export async function readVisible<View extends ViewName>(
  of: Collection<View, string, string>,
  asked: Asked,
  filter: Filter<View>,
  page?: Page,
) {
  const [rows] = await Promise.all([readObjects(of, asked, filter, page), requireVisible(of, asked)])
  return rows
}

async function requireVisible(
  { isOrganizations }: Collection<ViewName, string, string>,
  { caller: { actor }, ids }: Asked,
): Promise<void> {
  if (isOrganizations) await callAs(actor, 'require_administrator', {})
  if ('project_id' in ids) await requireProject(actor, ids.project_id)
}

/** The one that the path names, or that has this id. Throws a 404 where there is none, or as `readVisible` does. */
export async function find(of: Collection<ViewName, string, string>, asked: Asked, id: number = asked.ids[of.own]) {
  const [found] = await readObjects(of, asked, filterOf(of, asked.ids, { _id: id }), { size: 1 })
  if (found) return found
  await requireVisible(of, asked)
  throw notFound(of.object.missing)
}

/** What the path names besides, where the view tells it. */
export function filterOf<View extends ViewName>(
  { object: { view }, isOrganizations }: Collection<View, string, string>,
  ids: object,
  filter: object = {},
): Filter<View> {
  const { hidden } = VIEWS[view]
  const above = Object.entries(isOrganizations ? { ...ids, project_id: null } : ids).map(([name, id]) => [
    `_${name}`,
    id,
  ])
  return { ...Object.fromEntries(above.filter(([column]) => column in hidden)), ...filter }
}
