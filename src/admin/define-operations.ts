/**
 * Operations of the admin API as rows of a table: a path, the view that is shown or the function that changes something, which parts of
 * the request are which argument, and the answer. Routes, validation and the description follow from them (`serve-operations.ts`).
 */
import { type TProperties, type TSchema, Type as t } from '@sinclair/typebox'
import { type ActorArguments, callAsActor } from '../postgres/admin/call-as.ts'
import type { ViewFilter, ViewName } from '../postgres/admin/views.ts'
import type { FunctionName } from '../postgres/call.ts'
import { type AdminOperation, type FieldValues, ID_PREFIXES, type PathIds } from './admin-operation.ts'
import { STRICT_OBJECT } from './field-types.ts'
import {
  type ApiCollection,
  buildPathFilter,
  findObject,
  type OperationRequest,
  readVisibleObjects,
} from './find-objects.ts'
import { formatId, type IdPrefix } from './ids.ts'
import type { ApiObject } from './objects.ts'
import { idPageQuery, readCursor, rowLimit, slicePage, toPage } from './pagination.ts'
import type { OpenApiTag } from './parameters.ts'
import { deletedSchema, listSchema, pageSchema, textSchema } from './responses/shared.ts'

/** Objects below a path. */
export function defineCollection<View extends ViewName, const Base extends string, const Own extends string>(
  object: ApiObject<View>,
  where: Omit<ApiCollection<View, Base, Own>, 'object' | 'basePath'> & { basePath: Base },
): ApiCollection<View, Base, Own> & { basePath: Base } {
  return { object, ...where }
}

/** Objects of a project that the query names. */
export function defineProjectCollection<View extends ViewName, const Base extends string, const Own extends string>(
  object: ApiObject<View>,
  where: { tag: OpenApiTag; basePath: Base; idParameter: Own },
): ApiCollection<View, `/:project_id${Base}`, Own> {
  return { object, ...where, query: { project_id: t.String() } }
}

interface ListOptions<View extends ViewName, Base extends string, Query extends TProperties> {
  /** Besides those of pages. Without `include_archived`, objects whose hidden column `_archived` is true are left out. */
  query?: Query
  filter?(asked: OperationRequest<PathIds<Base>, FieldValues<Query>>): ViewFilter<View>
  newestFirst?: boolean
}

/** A page of them, in the `order` that is asked, if the query has one. Below a project's path, its objects alone. */
export function defineList<
  View extends ViewName,
  Base extends string,
  const Query extends TProperties = Record<never, never>,
>(
  of: ApiCollection<View, Base, string>,
  summary: string,
  { query, filter = () => ({}), newestFirst }: ListOptions<View, Base, Query> = {},
): AdminOperation {
  const { schema } = of.object
  const idKind = idKindOf(of.object)
  return {
    ...describe('GET', of, of.basePath, summary),
    response: pageSchema(schema),
    query: t.Object({ ...of.query, ...idPageQuery(idKind), ...query }, STRICT_OBJECT),
    async serve(asked) {
      const { after, limit, order } = asked.query
      const page = {
        after: readCursor(idKind, after),
        newestFirst: newestFirst ?? order === 'desc',
        size: rowLimit(limit),
      }
      const chosen = buildPathFilter(of, asked.ids, { ...hideStates(query, asked.query), ...filter(asked) })
      const rows = await readVisibleObjects(of, asked, chosen, page)
      return toPage(rows as unknown as { id: string }[], limit)
    },
  }
}

/** A page of few, which are read as a whole; the newest first where it is asked for. */
export function defineShortList(
  of: ApiCollection<ViewName, string, string>,
  summary: string,
  query: TProperties,
): AdminOperation {
  const { schema, idPrefix } = of.object
  return {
    ...describe('GET', of, of.basePath, summary),
    response: pageSchema(schema),
    query: t.Object(query, STRICT_OBJECT),
    async serve(asked) {
      if (idPrefix !== null) for (const name of ['after', 'before']) readCursor(idPrefix, asked.query[name], name)
      const rows = (await readVisibleObjects(of, asked, buildPathFilter(of, asked.ids))) as unknown as { id: string }[]
      return slicePage(asked.query.order === 'desc' ? rows.toReversed() : rows, asked.query)
    },
  }
}

/** All of them. */
export function defineFullList(of: ApiCollection<ViewName, string, string>, summary: string): AdminOperation {
  return {
    ...describe('GET', of, of.basePath, summary),
    response: listSchema(of.object.schema),
    async serve(asked) {
      const data = await readVisibleObjects(of, asked, buildPathFilter(of, asked.ids))
      return { object: 'list', data, has_more: false }
    },
  }
}

export function defineRead(of: ApiCollection<ViewName, string, string>, summary: string): AdminOperation {
  return { ...describe('GET', of, pathOfOne(of), summary), serve: asked => findObject(of, asked) }
}

interface ChangeOptions<Path extends string, Body extends TProperties, Name extends FunctionName> {
  body?: Body
  calls: SqlCall<Name, OperationRequest<PathIds<Path>, unknown, FieldValues<Body>>>
  /** The object with what is shown this once. */
  answer?: TSchema
}

/** The function returns the new object's id: alone, or as a column beside what is shown this once. */
export function defineCreate<Base extends string, const Body extends TProperties, Name extends FunctionName>(
  of: ApiCollection<ViewName, Base, string>,
  summary: string,
  { body, calls, answer }: ChangeOptions<Base, Body, Name>,
): AdminOperation {
  return {
    ...describe('POST', of, of.basePath, summary),
    ...(body && { body: t.Object(body, STRICT_OBJECT) }),
    ...(answer && { response: answer }),
    async serve(asked) {
      const made: unknown = await call(asked, calls)
      const { id, ...shown } = Array.isArray(made) ? made[0] : { id: made }
      return { ...(await findObject(of, asked, id)), ...shown }
    },
  }
}

/** Changes one that there is. `path` follows its own. */
export function defineUpdate<
  Base extends string,
  Own extends string,
  const Body extends TProperties,
  Name extends FunctionName,
>(
  of: ApiCollection<ViewName, Base, Own>,
  summary: string,
  {
    path = '',
    body,
    mustSay,
    calls,
    shows,
    answer,
  }: ChangeOptions<`${Base}/:${Own}`, Body, Name> & {
    path?: string
    /** A body without any field is refused. */
    mustSay?: boolean
    /** The field for the value that the function returns, which is shown this once. */
    shows?: string
  },
): AdminOperation {
  return {
    ...describe('POST', of, `${pathOfOne(of)}${path}`, summary),
    ...(body && { body: t.Object(body, { ...STRICT_OBJECT, ...(mustSay && { minProperties: 1 }) }) }),
    ...(answer && { response: answer }),
    async serve(asked) {
      if (!of.isCheckedBySql) await findObject(of, asked)
      const value = await call(asked, calls)
      return { ...(await findObject(of, asked)), ...(shows !== undefined && { [shows]: value }) }
    },
  }
}

export function defineDelete<Base extends string, Own extends string, Name extends FunctionName>(
  of: ApiCollection<ViewName, Base, Own>,
  summary: string,
  calls: SqlCall<Name, OperationRequest<PathIds<`${Base}/:${Own}`>>>,
): AdminOperation {
  const { object, idParameter } = of
  return {
    ...describe('DELETE', of, pathOfOne(of), summary),
    response: deletedSchema(object.kind ?? '', idParameter === '' ? {} : { id: textSchema }),
    async serve(asked) {
      if (!of.isCheckedBySql) await findObject(of, asked)
      await call(asked, calls)
      const id = idParameter === '' ? {} : { id: formatId(idKindOf(object), asked.ids[idParameter]) }
      return { object: `${object.kind}.deleted`, ...id, deleted: true }
    },
  }
}

const pathOfOne = ({ basePath, idParameter }: ApiCollection<ViewName, string, string>) =>
  idParameter === '' ? basePath : `${basePath}/:${idParameter}`

function idKindOf({ view, idPrefix }: ApiObject): IdPrefix {
  if (idPrefix === null) throw new Error(`What ${view} shows has no numbers`)
  return idPrefix
}

function describe(
  method: AdminOperation['method'],
  { object, tag, idParameter, query }: ApiCollection<ViewName, string, string>,
  path: string,
  summary: string,
) {
  const kinds = { ...ID_PREFIXES, ...(object.idPrefix && { [idParameter]: object.idPrefix }) }
  const row = { method, path, tag, summary, idPrefixes: kinds, response: object.schema as TSchema }
  return query ? { ...row, query: t.Object(query, STRICT_OBJECT) } : row
}

/** A function's name, and its arguments from what is asked. */
export type SqlCall<Name extends FunctionName, Given> = readonly [Name, (asked: Given) => ActorArguments<Name>]

function call<Name extends FunctionName>(
  { caller, ...asked }: OperationRequest,
  [name, argumentsOf]: SqlCall<Name, OperationRequest>,
) {
  return callAsActor(caller.actor, name, argumentsOf({ caller, ...asked }))
}

/** For each flag `include_archived` that is not given: those with `_archived` are left out. */
function hideStates(query: TProperties = {}, asked: Readonly<Record<string, unknown>>): Record<string, false> {
  const states = Object.keys(query).flatMap(name => (name.startsWith('include_') && !asked[name] ? [name] : []))
  return Object.fromEntries(states.map(name => [name.replace('include', ''), false as const]))
}
