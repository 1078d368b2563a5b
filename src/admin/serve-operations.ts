/** Serves operations: creates their routes from their definitions. */
import { type AnyElysia, Elysia } from 'elysia'
import type { AdminOperation } from './admin-operation.ts'
import type { Caller } from './caller.ts'
import { type AdminOptions, createAuthenticatedController } from './controller.ts'
import { describeRoute } from './describe-route.ts'
import { serveOnce } from './idempotency.ts'
import { type IdPrefix, requireId } from './ids.ts'
import { queryShapeOf } from './query-string.ts'

interface Input {
  request: Request
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
      const handler = async ({ caller, params, query, body, request }: Input) => {
        const ids = readIds({ ...projectOf(body), ...projectOf(query), ...params }, idPrefixes)
        const serveAs = (caller: Caller) => serve({ caller, options, ids, query, body })
        return method === 'POST' ? serveOnce(options, caller, request, body, serveAs) : serveAs(caller)
      }
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

function readIds(params: Input['params'], kinds: Readonly<Record<string, IdPrefix>>) {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      const kind = kinds[name]
      return [name, kind ? requireId(kind, value) : value]
    }),
  )
}
