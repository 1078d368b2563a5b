/** Finds the objects that an operation is about: in a view, and below what its path names. */
import type { TProperties } from '@sinclair/typebox'
import { type Actor, callAsActor } from '../postgres/admin/call-as.ts'
import { type PageRange, readView } from '../postgres/admin/read-view.ts'
import { SQL_VIEWS } from '../postgres/admin/views.generated.ts'
import type { ViewFilter, ViewName, ViewRow } from '../postgres/admin/views.ts'
import type { Caller } from './caller.ts'
import type { AdminOptions } from './controller.ts'
import { notFoundError } from './ids.ts'
import { type ApiObject, PROJECT_NOT_FOUND } from './objects.ts'
import type { OpenApiTag } from './parameters.ts'

/** What a request asks of an operation. */
// biome-ignore lint/suspicious/noExplicitAny: the row of the table says what they are
export interface OperationRequest<Ids = any, Query = any, Body = any> {
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
export interface ApiCollection<View extends ViewName, Path extends string, Own extends string> {
  object: ApiObject<View>
  tag: OpenApiTag
  basePath: string
  idParameter: Own
  /** What each operation's query has: the project, where no path names it. */
  query?: TProperties
  /** Never set: carries the type. */
  path?: Path
  /** The functions that change one refuse what is not there, so that it is not looked for before. */
  isCheckedBySql?: boolean
  /** Of those that projects have, too, the organization's: of no project, and for administrators. */
  isOrganizationWide?: boolean
}

/** Throws a 404 for a project that the caller may not see. */
export async function requireProject(actor: Actor, id: number): Promise<ViewRow<'organization_projects'>> {
  const [found] = await readView(actor, 'organization_projects', { _id: id }, { size: 1 })
  if (!found) throw notFoundError(PROJECT_NOT_FOUND)
  return found
}

export async function readObjects<View extends ViewName>(
  { object }: ApiCollection<View, string, string>,
  { caller }: OperationRequest,
  filter: ViewFilter<View>,
  page?: PageRange,
) {
  const rows = await readView(caller.actor, object.view, filter, page)
  return rows.map(row => ({ ...(object.kind && { object: object.kind }), ...row }))
}

/** Throws a 404 where the caller may not see the project in the path, a 403 where it takes an administrator. */
export async function readVisibleObjects<View extends ViewName>(
  of: ApiCollection<View, string, string>,
  asked: OperationRequest,
  filter: ViewFilter<View>,
  page?: PageRange,
) {
  const [rows] = await Promise.all([readObjects(of, asked, filter, page), requireVisible(of, asked)])
  return rows
}

async function requireVisible(
  { isOrganizationWide }: ApiCollection<ViewName, string, string>,
  { caller: { actor }, ids }: OperationRequest,
): Promise<void> {
  if (isOrganizationWide) await callAsActor(actor, 'require_administrator', {})
  if ('project_id' in ids) await requireProject(actor, ids.project_id)
}

/** The one that the path names, or that has this id. Throws a 404 where there is none, or as `readVisibleObjects` does. */
export async function findObject(
  of: ApiCollection<ViewName, string, string>,
  asked: OperationRequest,
  id: number = asked.ids[of.idParameter],
) {
  const [found] = await readObjects(of, asked, buildPathFilter(of, asked.ids, { _id: id }), { size: 1 })
  if (found) return found
  await requireVisible(of, asked)
  throw notFoundError(of.object.notFoundMessage)
}

/** What the path names besides, where the view tells it. */
export function buildPathFilter<View extends ViewName>(
  { object: { view }, isOrganizationWide }: ApiCollection<View, string, string>,
  ids: object,
  filter: object = {},
): ViewFilter<View> {
  const { hidden } = SQL_VIEWS[view]
  const above = Object.entries(isOrganizationWide ? { ...ids, project_id: null } : ids).map(([name, id]) => [
    `_${name}`,
    id,
  ])
  return { ...Object.fromEntries(above.filter(([column]) => column in hidden)), ...filter }
}
