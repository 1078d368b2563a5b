/**
 * Operations of the admin API as rows of a table: a path, the view that is shown or the function that changes something, which parts of
 * the request are which argument, and the answer. Routes, validation and the description follow from them (`serve-operations.ts`).
 */
import { type TProperties, type TSchema, Type as t } from '@sinclair/typebox'
import { type AskedAs, callAs } from '../postgres/admin/call-as.ts'
import type { Filter, ViewName } from '../postgres/admin/views.ts'
import type { FunctionName } from '../postgres/call.ts'
import { deleted, listOf, pagesOf, text } from './answers/shared.ts'
import { strict } from './field-types.ts'
import { type Asked, type Collection, filterOf, find, readVisible } from './find-objects.ts'
import { formatId, type IdKind } from './ids.ts'
import type { ApiObject } from './objects.ts'
import { pageOf, pageQueryOf, pageSize, readCursor, toPage } from './pages.ts'
import type { Tag } from './parameters.ts'
import { type Fields, ID_KINDS, type IdsOf, type Operation } from './table-row.ts'

/** Objects below a path. */
export function collection<View extends ViewName, const Base extends string, const Own extends string>(
  object: ApiObject<View>,
  where: Omit<Collection<View, Base, Own>, 'object' | 'base'> & { base: Base },
): Collection<View, Base, Own> & { base: Base } {
  return { object, ...where }
}

/** Objects of a project that the query names. */
export function collectionOfProject<View extends ViewName, const Base extends string, const Own extends string>(
  object: ApiObject<View>,
  where: { tag: Tag; base: Base; own: Own },
): Collection<View, `/:project_id${Base}`, Own> {
  return { object, ...where, query: { project_id: t.String() } }
}

interface ListOptions<View extends ViewName, Base extends string, Query extends TProperties> {
  /** Besides those of pages. Without `include_archived`, objects whose hidden column `_archived` is true are left out. */
  query?: Query
  filter?(asked: Asked<IdsOf<Base>, Fields<Query>>): Filter<View>
  newestFirst?: boolean
}

/** A page of them, in the `order` that is asked, if the query has one. Below a project's path, its objects alone. */
export function list<
  View extends ViewName,
  Base extends string,
  const Query extends TProperties = Record<never, never>,
>(
  of: Collection<View, Base, string>,
  summary: string,
  { query, filter = () => ({}), newestFirst }: ListOptions<View, Base, Query> = {},
): Operation {
  const { schema } = of.object
  const idKind = idKindOf(of.object)
  return {
    ...describe('GET', of, of.base, summary),
    answer: pagesOf(schema),
    query: t.Object({ ...of.query, ...pageQueryOf(idKind), ...query }, strict),
    async serve(asked) {
      const { after, limit, order } = asked.query
      const page = {
        after: readCursor(idKind, after),
        newestFirst: newestFirst ?? order === 'desc',
        size: pageSize(limit),
      }
      const chosen = filterOf(of, asked.ids, { ...hideStates(query, asked.query), ...filter(asked) })
      const rows = await readVisible(of, asked, chosen, page)
      return toPage(rows as unknown as { id: string }[], limit)
    },
  }
}

/** A page of few, which are read as a whole; the newest first where it is asked for. */
export function listFew(of: Collection<ViewName, string, string>, summary: string, query: TProperties): Operation {
  const { schema, idKind } = of.object
  return {
    ...describe('GET', of, of.base, summary),
    answer: pagesOf(schema),
    query: t.Object(query, strict),
    async serve(asked) {
      if (idKind !== null) for (const name of ['after', 'before']) readCursor(idKind, asked.query[name], name)
      const rows = (await readVisible(of, asked, filterOf(of, asked.ids))) as unknown as { id: string }[]
      return pageOf(asked.query.order === 'desc' ? rows.toReversed() : rows, asked.query)
    },
  }
}

/** All of them. */
export function listAll(of: Collection<ViewName, string, string>, summary: string): Operation {
  return {
    ...describe('GET', of, of.base, summary),
    answer: listOf(of.object.schema),
    async serve(asked) {
      const data = await readVisible(of, asked, filterOf(of, asked.ids))
      return { object: 'list', data, has_more: false }
    },
  }
}

export function read(of: Collection<ViewName, string, string>, summary: string): Operation {
  return { ...describe('GET', of, pathOfOne(of), summary), serve: asked => find(of, asked) }
}

interface ChangeOptions<Path extends string, Body extends TProperties, Name extends FunctionName> {
  body?: Body
  calls: Calls<Name, Asked<IdsOf<Path>, unknown, Fields<Body>>>
  /** The object with what is shown this once. */
  answer?: TSchema
}

/** The function returns the new object's id: alone, or as a column beside what is shown this once. */
export function make<Base extends string, const Body extends TProperties, Name extends FunctionName>(
  of: Collection<ViewName, Base, string>,
  summary: string,
  { body, calls, answer }: ChangeOptions<Base, Body, Name>,
): Operation {
  return {
    ...describe('POST', of, of.base, summary),
    ...(body && { body: t.Object(body, strict) }),
    ...(answer && { answer }),
    async serve(asked) {
      const made: unknown = await call(asked, calls)
      const { id, ...shown } = Array.isArray(made) ? made[0] : { id: made }
      return { ...(await find(of, asked, id)), ...shown }
    },
  }
}

/** Changes one that there is. `path` follows its own. */
export function change<
  Base extends string,
  Own extends string,
  const Body extends TProperties,
  Name extends FunctionName,
>(
  of: Collection<ViewName, Base, Own>,
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
): Operation {
  return {
    ...describe('POST', of, `${pathOfOne(of)}${path}`, summary),
    ...(body && { body: t.Object(body, { ...strict, ...(mustSay && { minProperties: 1 }) }) }),
    ...(answer && { answer }),
    async serve(asked) {
      if (!of.functionsRefuse) await find(of, asked)
      const value = await call(asked, calls)
      return { ...(await find(of, asked)), ...(shows !== undefined && { [shows]: value }) }
    },
  }
}

export function remove<Base extends string, Own extends string, Name extends FunctionName>(
  of: Collection<ViewName, Base, Own>,
  summary: string,
  calls: Calls<Name, Asked<IdsOf<`${Base}/:${Own}`>>>,
): Operation {
  const { object, own } = of
  return {
    ...describe('DELETE', of, pathOfOne(of), summary),
    answer: deleted(object.kind ?? '', own === '' ? {} : { id: text }),
    async serve(asked) {
      if (!of.functionsRefuse) await find(of, asked)
      await call(asked, calls)
      const id = own === '' ? {} : { id: formatId(idKindOf(object), asked.ids[own]) }
      return { object: `${object.kind}.deleted`, ...id, deleted: true }
    },
  }
}

const pathOfOne = ({ base, own }: Collection<ViewName, string, string>) => (own === '' ? base : `${base}/:${own}`)

function idKindOf({ view, idKind }: ApiObject): IdKind {
  if (idKind === null) throw new Error(`What ${view} shows has no numbers`)
  return idKind
}

function describe(
  method: Operation['method'],
  { object, tag, own, query }: Collection<ViewName, string, string>,
  path: string,
  summary: string,
) {
  const kinds = { ...ID_KINDS, ...(object.idKind && { [own]: object.idKind }) }
  const row = { method, path, tag, summary, kinds, answer: object.schema as TSchema }
  return query ? { ...row, query: t.Object(query, strict) } : row
}

/** A function's name, and its arguments from what is asked. */
export type Calls<Name extends FunctionName, Given> = readonly [Name, (asked: Given) => AskedAs<Name>]

function call<Name extends FunctionName>({ caller, ...asked }: Asked, [name, argumentsOf]: Calls<Name, Asked>) {
  return callAs(caller.actor, name, argumentsOf({ caller, ...asked }))
}

/** For each flag `include_archived` that is not given: those with `_archived` are left out. */
function hideStates(query: TProperties = {}, asked: Readonly<Record<string, unknown>>): Record<string, false> {
  const states = Object.keys(query).flatMap(name => (name.startsWith('include_') && !asked[name] ? [name] : []))
  return Object.fromEntries(states.map(name => [name.replace('include', ''), false as const]))
}
