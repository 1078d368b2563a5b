/** Finds the objects of an operation in a view, below the objects that its path names. */
import { type TProperties, Type as t } from '@sinclair/typebox'
import { type Actor, callAsActor } from '../postgres/admin/call-as.ts'
import { type PageRange, readView } from '../postgres/admin/read-view.ts'
import { SQL_VIEWS } from '../postgres/admin/views.generated.ts'
import type { ViewFilter, ViewName, ViewRow } from '../postgres/admin/views.ts'
import type { Caller } from './caller.ts'
import type { AdminOptions } from './controller.ts'
import { notFoundError } from './ids.ts'
import { type ApiObject, PROJECT_NOT_FOUND } from './objects.ts'
import type { OpenApiTag } from './parameters.ts'

/** A request to an operation. */
// biome-ignore lint/suspicious/noExplicitAny: the definition of the operation determines them
export interface OperationRequest<Ids = any, Query = any, Body = any> {
  caller: Caller
  options: AdminOptions
  /** The parameters of the path: ids as numbers, names as text. */
  ids: Ids
  query: Query
  body: Body
}

/**
 * A collection of objects of one kind: the path of all objects, and the parameter that names one. The parameter is empty if there is only one
 * object. `Path` is the type of the path.
 */
export interface ApiCollection<View extends ViewName, Path extends string, Own extends string> {
  object: ApiObject<View>
  tag: OpenApiTag
  basePath: string
  idParameter: Own
  /** The query parameters of each operation: the project, if the path does not name it. */
  query?: TProperties
  /** Never set; it holds the type. */
  path?: Path
  /** True if the SQL functions that change an object reject missing ones, so that the object is not read before. */
  isCheckedBySql?: boolean
  /** True for objects of the organization. Only administrators may read them. */
  isOrganizationWide?: boolean
}

/** Returns a project. Throws a 404 if the caller may not see it. */
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

/** Reads objects. Throws a 404 if the caller may not see the project in the path, and a 403 if an administrator is required. */
export async function readVisibleObjects<View extends ViewName>(
  collection: ApiCollection<View, string, string>,
  request: OperationRequest,
  filter: ViewFilter<View>,
  page?: PageRange,
) {
  const [rows] = await Promise.all([
    readObjects(collection, request, filter, page),
    requireVisible(collection, request),
  ])
  return rows
}

async function requireVisible(
  { isOrganizationWide }: ApiCollection<ViewName, string, string>,
  { caller: { actor }, ids }: OperationRequest,
): Promise<void> {
  if (isOrganizationWide) await callAsActor(actor, 'require_administrator', {})
  if ('project_id' in ids) await requireProject(actor, ids.project_id)
}

/** Returns the object that the path names, or that has this id. Throws a 404 if there is none, and as `readVisibleObjects` does. */
export async function findObject(
  collection: ApiCollection<ViewName, string, string>,
  request: OperationRequest,
  id: number | string = request.ids[collection.idParameter],
) {
  const [found] = await readObjects(collection, request, buildPathFilter(collection, request.ids, { _id: id }), {
    size: 1,
  })
  if (found && !collection.isOrganizationWide) return found
  await requireVisible(collection, request)
  if (found) return found
  throw notFoundError(collection.object.notFoundMessage)
}

/** Query parameters that select objects by the exact value of a hidden column: `_name` by `name`. */
const EXACT_FILTERS = {
  name: t.Optional(t.String({ description: 'Only the object with exactly this name.' })),
  url: t.Optional(t.String({ description: 'Only webhooks with exactly this URL, as a webhook shows it.' })),
}

/** Returns the query parameters that select objects of a view by exact values. */
export function exactFilters(view: ViewName): TProperties {
  return Object.fromEntries(Object.entries(EXACT_FILTERS).filter(([name]) => `_${name}` in SQL_VIEWS[view].hidden))
}

/** Returns the conditions of `exactFilters` that a query has. */
export function readExactFilters(view: ViewName, query: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.keys(exactFilters(view)).map(name => [`_${name}`, query[name]]))
}

/** Returns a filter for the other objects in the path, as far as the view has columns for them. */
export function buildPathFilter<View extends ViewName>(
  { object: { view }, isOrganizationWide }: ApiCollection<View, string, string>,
  ids: object,
  filter: object = {},
): ViewFilter<View> {
  const { hidden } = SQL_VIEWS[view]
  const parents = Object.entries(isOrganizationWide ? { ...ids, project_id: null } : ids).map(([name, id]) => [
    `_${name}`,
    id,
  ])
  return { ...Object.fromEntries(parents.filter(([column]) => column in hidden)), ...filter }
}
