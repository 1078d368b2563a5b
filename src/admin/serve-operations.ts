/** Serves the operations of the table: their routes, what they take and answer. */
import { type AnyElysia, Elysia } from 'elysia'
import type { Caller } from './caller.ts'
import { type AdminOptions, createController } from './controller.ts'
import { type IdKind, requireId } from './ids.ts'
import { operation } from './operation.ts'
import type { Operation } from './table-row.ts'

interface Request {
  caller: Caller
  params: Readonly<Record<string, string>>
  query: unknown
  body: unknown
}

export function serveOperations(options: AdminOptions, operations: readonly Operation[]): AnyElysia {
  const served = new Elysia({ normalize: false })
  for (const [tag, rows] of Map.groupBy(operations, row => row.tag)) {
    const controller = createController(options, '', tag)
    for (const { method, path, summary, answer, otherAnswers, query, body, kinds, serve } of rows) {
      const handler = async ({ caller, params, query, body }: Request) =>
        serve({
          caller,
          options,
          ids: readIds({ ...projectOf(body), ...projectOf(query), ...params }, kinds),
          query,
          body,
        })
      controller.route(
        method,
        path,
        handler as never,
        operation(summary, answer, { ...(query && { query }), ...(body && { body }) }, otherAnswers) as never,
      )
    }
    served.use(controller)
  }
  return served
}

/** A project that a query or a body names, where no path does. */
function projectOf(given: unknown): Record<string, string> {
  if (typeof given !== 'object' || given === null || !('project_id' in given)) return {}
  return { project_id: String(given.project_id) }
}

function readIds(params: Request['params'], kinds: Readonly<Record<string, IdKind>>) {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      const kind = kinds[name]
      return [name, kind ? requireId(kind, value) : value]
    }),
  )
}
