/** An operation of the admin API: its route, parameters, response and handler. */
import { type Static, type TObject, type TProperties, type TSchema, Type as t } from '@sinclair/typebox'
import { STRICT_OBJECT } from './field-types.ts'
import { type OperationRequest, requireProject } from './find-objects.ts'
import type { IdPrefix } from './ids.ts'
import type { OpenApiTag } from './parameters.ts'

export interface AdminOperation {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  tag: OpenApiTag
  summary: string
  /** The prefixes of the ids in the path, by parameter. */
  idPrefixes: Readonly<Record<string, IdPrefix>>
  query?: TSchema
  body?: TSchema
  response: TSchema
  /** Response schemas of other media types. */
  otherResponses?: Record<string, object>
  serve(request: OperationRequest): Promise<object>
}

export type FieldValues<Properties extends TProperties> = Static<TObject<Properties>>
/** The parameters of a path by name. */
export type PathIds<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [N in Name]: number } & PathIds<Rest>
  : Path extends `${string}:${infer Name}`
    ? { readonly [N in Name]: number }
    : unknown

/** The project that a query or a body names. */
type ProjectIn<Given> = 'project_id' extends keyof Given ? { readonly project_id: number } : unknown

/** The prefixes of ids that also occur in the paths of other objects. */
export const ID_PREFIXES: Readonly<Record<string, IdPrefix>> = { project_id: 'proj' }

/**
 * Defines an operation with code of its own, which is neither a view nor a single function. A GET of a project's data throws a 404 if the
 * caller may not see the project. SQL functions check the caller of other operations.
 */
export function defineOperation<
  const Path extends string,
  const Query extends TProperties = Record<never, never>,
  const Body extends TProperties = Record<never, never>,
>(
  definition: Pick<AdminOperation, 'method' | 'tag' | 'summary' | 'response' | 'otherResponses'> & {
    path: Path
    kinds?: AdminOperation['idPrefixes']
    query?: Query
    body?: Body
    serve(
      request: OperationRequest<PathIds<Path> & ProjectIn<Query & Body>, FieldValues<Query>, FieldValues<Body>>,
    ): Promise<object>
  },
): AdminOperation {
  const { kinds, query, body, serve, ...rest } = definition
  const querySchema = query && t.Object<TProperties>(query, STRICT_OBJECT)
  const hasProject = rest.path.includes(':project_id') || querySchema?.required?.includes('project_id')
  return {
    ...rest,
    async serve(request) {
      if (rest.method === 'GET' && hasProject) await requireProject(request.caller.actor, request.ids.project_id)
      return serve(request)
    },
    idPrefixes: { ...ID_PREFIXES, ...kinds },
    ...(querySchema && { query: querySchema }),
    ...(body && { body: t.Object(body, STRICT_OBJECT) }),
  }
}
