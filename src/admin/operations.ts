/**
 * Operations of the admin API as rows of a table: a path, the view that is shown or the function that changes something, which parts of
 * the request are which argument, and the answer. Routes, validation and the description follow from them (`serve-operations.ts`).
 */
import { type Static, type TObject, type TProperties, type TSchema, Type as t } from '@sinclair/typebox'
import { type AskedAs, callAs } from '../postgres/admin/call-as.ts'
import type { Filter, ViewName } from '../postgres/admin/views.ts'
import type { FunctionName } from '../postgres/call.ts'
import { deleted, listOf, pagesOf, text } from './answers/shared.ts'
import { strict } from './field-types.ts'
import { type Asked, type Collection, filterOf, find, readVisible } from './find-objects.ts'
import type { IdKind } from './ids.ts'
import type { ApiObject } from './objects.ts'
import { pageQueryOf, pageSize, readCursor, toPage } from './pages.ts'
import type { Tag } from './parameters.ts'

export interface Operation {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  tag: Tag
  summary: string
  /** Kinds of the ids in its path, by parameter. */
  kinds: Readonly<Record<string, IdKind>>
  query?: TSchema
  body?: TSchema
  answer: TSchema
  serve(asked: Asked): Promise<object>
}

type Fields<Properties extends TProperties> = Static<TObject<Properties>>
/** Parameters of a path by name. */
type IdsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [N in Name]: number } & IdsOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? { readonly [N in Name]: number }
    : unknown

/** A project that a query or a body names. */
type ProjectIn<Given> = 'project_id' extends keyof Given ? { readonly project_id: number } : unknown

/** Kinds of ids that stand in paths of other objects, too. */
const ID_KINDS: Readonly<Record<string, IdKind>> = { project_id: 'proj' }

/** Objects below a path. */
export function collection<View extends ViewName, const Base extends string, const Own extends string>(
  object: ApiObject<View>,
  where: { tag: Tag; base: Base; own: Own },
): Collection<View, Base, Own> {
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

/** A page of them. Below a project's path, its objects alone. */
export function list<
  View extends ViewName,
  Base extends string,
  const Query extends TProperties = Record<never, never>,
>(
  of: Collection<View, Base, string>,
  summary: string,
  { query, filter = () => ({}), newestFirst }: ListOptions<View, Base, Query> = {},
): Operation {
  const { schema, idKind, view } = of.object
  return {
    ...describe('GET', of, of.base, summary),
    answer: pagesOf(schema),
    query: t.Object({ ...of.query, ...pageQueryOf(idKind), ...query }, strict),
    async serve(asked) {
      const { after, limit } = asked.query
      const page = { after: readCursor(idKind, after), newestFirst, size: pageSize(limit) }
      const chosen = filterOf(view, asked.ids, { ...hideStates(query, asked.query), ...filter(asked) })
      const rows = await readVisible(of, asked, chosen, page)
      return toPage(rows as unknown as { id: string }[], limit)
    },
  }
}

/** All of them. */
export function listAll(of: Collection<ViewName, string, string>, summary: string): Operation {
  return {
    ...describe('GET', of, of.base, summary),
    answer: listOf(of.object.schema),
    async serve(asked) {
      const data = await readVisible(of, asked, filterOf(of.object.view, asked.ids, {}))
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
    calls,
    shows,
    answer,
  }: ChangeOptions<`${Base}/:${Own}`, Body, Name> & {
    path?: string
    /** The field for the value that the function returns, which is shown this once. */
    shows?: string
  },
): Operation {
  return {
    ...describe('POST', of, `${pathOfOne(of)}${path}`, summary),
    ...(body && { body: t.Object(body, strict) }),
    ...(answer && { answer }),
    async serve(asked) {
      await find(of, asked)
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
  const { kind } = of.object
  return {
    ...describe('DELETE', of, pathOfOne(of), summary),
    answer: deleted(kind, { id: text }),
    async serve(asked) {
      const { id } = await find(of, asked)
      await call(asked, calls)
      return { object: `${kind}.deleted`, id, deleted: true }
    },
  }
}

/** What is neither a view nor a function alone: code says what is answered. */
export function serveBy<
  const Path extends string,
  const Query extends TProperties = Record<never, never>,
  const Body extends TProperties = Record<never, never>,
>(
  row: Pick<Operation, 'method' | 'tag' | 'summary' | 'answer'> & {
    path: Path
    kinds?: Operation['kinds']
    query?: Query
    body?: Body
    serve(asked: Asked<IdsOf<Path> & ProjectIn<Query & Body>, Fields<Query>, Fields<Body>>): Promise<object>
  },
): Operation {
  const { kinds, query, body, ...rest } = row
  return {
    ...rest,
    kinds: { ...ID_KINDS, ...kinds },
    ...(query && { query: t.Object(query, strict) }),
    ...(body && { body: t.Object(body, strict) }),
  }
}

const pathOfOne = ({ base, own }: Collection<ViewName, string, string>) => `${base}/:${own}`

function describe(
  method: Operation['method'],
  { object, tag, own, query }: Collection<ViewName, string, string>,
  path: string,
  summary: string,
) {
  const kinds = { ...ID_KINDS, [own]: object.idKind }
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
