/** A row of the table of operations: what an operation takes, and how it is answered. */
import { type Static, type TObject, type TProperties, type TSchema, Type as t } from '@sinclair/typebox'
import { STRICT_OBJECT } from './field-types.ts'
import type { OperationRequest } from './find-objects.ts'
import type { IdPrefix } from './ids.ts'
import type { OpenApiTag } from './parameters.ts'

export interface AdminOperation {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  tag: OpenApiTag
  summary: string
  /** Kinds of the ids in its path, by parameter. */
  idPrefixes: Readonly<Record<string, IdPrefix>>
  query?: TSchema
  body?: TSchema
  response: TSchema
  /** Schemas by other media types. */
  otherResponses?: Record<string, object>
  serve(asked: OperationRequest): Promise<object>
}

export type FieldValues<Properties extends TProperties> = Static<TObject<Properties>>
/** Parameters of a path by name. */
export type PathIds<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [N in Name]: number } & PathIds<Rest>
  : Path extends `${string}:${infer Name}`
    ? { readonly [N in Name]: number }
    : unknown

/** A project that a query or a body names. */
type ProjectIn<Given> = 'project_id' extends keyof Given ? { readonly project_id: number } : unknown

/** Kinds of ids that stand in paths of other objects, too. */
export const ID_PREFIXES: Readonly<Record<string, IdPrefix>> = { project_id: 'proj' }

/** What is neither a view nor a function alone: code says what is answered. */
export function defineOperation<
  const Path extends string,
  const Query extends TProperties = Record<never, never>,
  const Body extends TProperties = Record<never, never>,
>(
  row: Pick<AdminOperation, 'method' | 'tag' | 'summary' | 'response' | 'otherResponses'> & {
    path: Path
    kinds?: AdminOperation['idPrefixes']
    query?: Query
    body?: Body
    serve(
      asked: OperationRequest<PathIds<Path> & ProjectIn<Query & Body>, FieldValues<Query>, FieldValues<Body>>,
    ): Promise<object>
  },
): AdminOperation {
  const { kinds, query, body, ...rest } = row
  return {
    ...rest,
    idPrefixes: { ...ID_PREFIXES, ...kinds },
    ...(query && { query: t.Object(query, STRICT_OBJECT) }),
    ...(body && { body: t.Object(body, STRICT_OBJECT) }),
  }
}
