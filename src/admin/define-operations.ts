/**
 * Defines operations of the admin API: a path, the view that it returns or the SQL function that it calls, the function's arguments, and the
 * response. `serve-operations.ts` derives routes, validation and the description from these definitions.
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
  exactFilters,
  findObject,
  type OperationRequest,
  readExactFilters,
  readVisibleObjects,
} from './find-objects.ts'
import { formatId, type IdPrefix } from './ids.ts'
import type { ApiObject } from './objects.ts'
import { idPageQuery, readCursor, rowLimit, slicePage, toPage } from './pagination.ts'
import type { OpenApiTag } from './parameters.ts'
import { deletedSchema, listSchema, pageSchema, textSchema } from './responses/shared.ts'

/** Defines a collection of objects below a path. */
export function defineCollection<View extends ViewName, const Base extends string, const Own extends string>(
  object: ApiObject<View>,
  where: Omit<ApiCollection<View, Base, Own>, 'object' | 'basePath'> & { basePath: Base },
): ApiCollection<View, Base, Own> & { basePath: Base } {
  return { object, ...where }
}

/** Defines a collection of objects of the project that the query names. */
export function defineProjectCollection<View extends ViewName, const Base extends string, const Own extends string>(
  object: ApiObject<View>,
  where: { tag: OpenApiTag; basePath: Base; idParameter: Own },
): ApiCollection<View, `/:project_id${Base}`, Own> {
  return { object, ...where, query: { project_id: t.String() } }
}

interface ListOptions<View extends ViewName, Base extends string, Query extends TProperties> {
  /** Query parameters besides those of pages. Without `include_archived`, objects with a true hidden column `_archived` are omitted. */
  query?: Query
  filter?(request: OperationRequest<PathIds<Base>, FieldValues<Query>>): ViewFilter<View>
  newestFirst?: boolean
}

/** Defines a list of objects in pages, sorted by `order` if the query has it. Below a project's path, lists only its objects. */
export function defineList<
  View extends ViewName,
  Base extends string,
  const Query extends TProperties = Record<never, never>,
>(
  collection: ApiCollection<View, Base, string>,
  summary: string,
  { query, filter = () => ({}), newestFirst }: ListOptions<View, Base, Query> = {},
): AdminOperation {
  const { schema } = collection.object
  const idKind = idKindOf(collection.object)
  return {
    ...describe('GET', collection, collection.basePath, summary),
    response: pageSchema(schema),
    query: t.Object(
      { ...collection.query, ...exactFilters(collection.object.view), ...idPageQuery(idKind), ...query },
      STRICT_OBJECT,
    ),
    async serve(request) {
      const { after, limit, order } = request.query
      const page = {
        after: readCursor(idKind, after),
        newestFirst: newestFirst ?? order === 'desc',
        size: rowLimit(limit),
      }
      const chosen = buildPathFilter(collection, request.ids, {
        ...readExactFilters(collection.object.view, request.query),
        ...excludeHiddenStates(query, request.query),
        ...filter(request),
      })
      const rows = await readVisibleObjects(collection, request, chosen, page)
      return toPage(rows as unknown as { id: string }[], limit)
    },
  }
}

/** Defines a list of few objects. It reads all of them, sorts them by `order`, and returns a page. */
export function defineShortList(
  collection: ApiCollection<ViewName, string, string>,
  summary: string,
  query: TProperties,
): AdminOperation {
  const { schema } = collection.object
  return {
    ...describe('GET', collection, collection.basePath, summary),
    response: pageSchema(schema),
    query: t.Object(query, STRICT_OBJECT),
    async serve(request) {
      const rows = (await readVisibleObjects(
        collection,
        request,
        buildPathFilter(collection, request.ids),
      )) as unknown as { id: string }[]
      return slicePage(request.query.order === 'desc' ? rows.toReversed() : rows, request.query)
    },
  }
}

/** Defines a list of all objects, without pages. */
export function defineFullList(collection: ApiCollection<ViewName, string, string>, summary: string): AdminOperation {
  return {
    ...describe('GET', collection, collection.basePath, summary),
    response: listSchema(collection.object.schema),
    query: t.Object(exactFilters(collection.object.view), STRICT_OBJECT),
    async serve(request) {
      const chosen = readExactFilters(collection.object.view, request.query)
      const data = await readVisibleObjects(collection, request, buildPathFilter(collection, request.ids, chosen))
      return { object: 'list', data, has_more: false }
    },
  }
}

export function defineRead(collection: ApiCollection<ViewName, string, string>, summary: string): AdminOperation {
  return {
    ...describe('GET', collection, objectPathOf(collection), summary),
    serve: request => findObject(collection, request),
  }
}

interface ChangeOptions<Path extends string, Body extends TProperties, Name extends FunctionName> {
  body?: Body
  calls: SqlCall<Name, OperationRequest<PathIds<Path>, unknown, FieldValues<Body>>>
  /** The response schema, if the response has fields that are shown only once. */
  responseSchema?: TSchema
}

/** Defines an operation that creates an object. The function returns its id: alone, or in a row with fields that are shown only once. */
export function defineCreate<Base extends string, const Body extends TProperties, Name extends FunctionName>(
  collection: ApiCollection<ViewName, Base, string>,
  summary: string,
  { body, calls, responseSchema }: ChangeOptions<Base, Body, Name>,
): AdminOperation {
  return {
    ...describe('POST', collection, collection.basePath, summary),
    ...(body && { body: t.Object(body, STRICT_OBJECT) }),
    ...(responseSchema && { response: responseSchema }),
    async serve(request) {
      const created: unknown = await call(request, calls)
      const { id, ...shown } = Array.isArray(created) ? created[0] : { id: created }
      return { ...(await findObject(collection, request, id)), ...shown }
    },
  }
}

/** Defines an operation that changes an object. `path` is appended to the object's path. */
export function defineUpdate<
  Base extends string,
  Own extends string,
  const Body extends TProperties,
  Name extends FunctionName,
>(
  collection: ApiCollection<ViewName, Base, Own>,
  summary: string,
  {
    path = '',
    body,
    requiresField,
    calls,
    resultField,
    responseSchema,
  }: ChangeOptions<`${Base}/:${Own}`, Body, Name> & {
    path?: string
    /** True to reject a body without fields. */
    requiresField?: boolean
    /** The response field for the function's result, which is shown only once. */
    resultField?: string
  },
): AdminOperation {
  return {
    ...describe('POST', collection, `${objectPathOf(collection)}${path}`, summary),
    ...(body && { body: t.Object(body, { ...STRICT_OBJECT, ...(requiresField && { minProperties: 1 }) }) }),
    ...(responseSchema && { response: responseSchema }),
    async serve(request) {
      if (!collection.isCheckedBySql) await findObject(collection, request)
      const value = await call(request, calls)
      return { ...(await findObject(collection, request)), ...(resultField !== undefined && { [resultField]: value }) }
    },
  }
}

export function defineDelete<Base extends string, Own extends string, Name extends FunctionName>(
  collection: ApiCollection<ViewName, Base, Own>,
  summary: string,
  calls: SqlCall<Name, OperationRequest<PathIds<`${Base}/:${Own}`>>>,
): AdminOperation {
  const { object, idParameter } = collection
  return {
    ...describe('DELETE', collection, objectPathOf(collection), summary),
    response: deletedSchema(object.kind ?? '', idParameter === '' ? {} : { id: textSchema }),
    async serve(request) {
      if (!collection.isCheckedBySql) await findObject(collection, request)
      await call(request, calls)
      const id = idParameter === '' ? {} : { id: formatId(idKindOf(object), request.ids[idParameter]) }
      return { object: `${object.kind}.deleted`, ...id, deleted: true }
    },
  }
}

const objectPathOf = ({ basePath, idParameter }: ApiCollection<ViewName, string, string>) =>
  idParameter === '' ? basePath : `${basePath}/:${idParameter}`

function idKindOf({ view, idPrefix }: ApiObject): IdPrefix {
  if (idPrefix === null) throw new Error(`objects of the view ${view} have no ids`)
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

/** The name of a SQL function, and its arguments as a function of the request. */
export type SqlCall<Name extends FunctionName, Request> = readonly [Name, (request: Request) => ActorArguments<Name>]

function call<Name extends FunctionName>(
  { caller, ...request }: OperationRequest,
  [name, argumentsOf]: SqlCall<Name, OperationRequest>,
) {
  return callAsActor(caller.actor, name, argumentsOf({ caller, ...request }))
}

/** Returns a filter that omits objects with `_archived` unless `include_archived` is given, and so on for each such parameter. */
function excludeHiddenStates(
  query: TProperties = {},
  request: Readonly<Record<string, unknown>>,
): Record<string, false> {
  const states = Object.keys(query).flatMap(name => (name.startsWith('include_') && !request[name] ? [name] : []))
  return Object.fromEntries(states.map(name => [name.replace('include', ''), false as const]))
}
