/** A row of the table of operations: what an operation takes, and how it is answered. */
import { type Static, type TObject, type TProperties, type TSchema, Type as t } from '@sinclair/typebox'
import { strict } from './field-types.ts'
import type { Asked } from './find-objects.ts'
import type { IdKind } from './ids.ts'
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
  /** Schemas by other media types. */
  otherAnswers?: Record<string, object>
  serve(asked: Asked): Promise<object>
}

export type Fields<Properties extends TProperties> = Static<TObject<Properties>>
/** Parameters of a path by name. */
export type IdsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [N in Name]: number } & IdsOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? { readonly [N in Name]: number }
    : unknown

/** A project that a query or a body names. */
type ProjectIn<Given> = 'project_id' extends keyof Given ? { readonly project_id: number } : unknown

/** Kinds of ids that stand in paths of other objects, too. */
export const ID_KINDS: Readonly<Record<string, IdKind>> = { project_id: 'proj' }

/** What is neither a view nor a function alone: code says what is answered. */
export function serveBy<
  const Path extends string,
  const Query extends TProperties = Record<never, never>,
  const Body extends TProperties = Record<never, never>,
>(
  row: Pick<Operation, 'method' | 'tag' | 'summary' | 'answer' | 'otherAnswers'> & {
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
