/** Serves operations: creates their routes from their definitions. */
import { type AnyElysia, Elysia } from 'elysia'
import type { AdminOperation } from './admin-operation.ts'
import type { Caller } from './caller.ts'
import { type AdminOptions, createAuthenticatedController } from './controller.ts'
import { describeRoute } from './describe-route.ts'
import { type IdPrefix, requireId } from './ids.ts'
import { queryShapeOf } from './query-string.ts'

interface Request {
  caller: Caller
  params: Readonly<Record<string, string>>
  query: unknown
  body: unknown
}

export function serveOperations(options: AdminOptions, operations: readonly AdminOperation[]): AnyElysia {
  const served = new Elysia({ normalize: false })
  for (const [tag, rows] of Map.groupBy(operations, row => row.tag)) {
    const controller = createAuthenticatedController(options, '', tag, queryShapeOf(rows.map(row => row.query)))
    for (const { method, path, summary, response, otherResponses, query, body, idPrefixes, serve } of rows) {
      const handler = async ({ caller, params, query, body }: Request) =>
        serve({
          caller,
          options,
          ids: readIds({ ...projectOf(body), ...projectOf(query), ...params }, idPrefixes),
          query,
          body,
        })
      controller.route(
        method,
        path,
        handler as never,
        describeRoute(summary, response, { ...(query && { query }), ...(body && { body }) }, otherResponses) as never,
      )
    }
    served.use(controller)
  }
  return served
}

/** Returns the project that a query or a body names. */
function projectOf(given: unknown): Record<string, string> {
  if (typeof given !== 'object' || given === null || !('project_id' in given)) return {}
  return { project_id: String(given.project_id) }
}

function readIds(params: Request['params'], kinds: Readonly<Record<string, IdPrefix>>) {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      const kind = kinds[name]
      return [name, kind ? requireId(kind, value) : value]
    }),
  )
}
