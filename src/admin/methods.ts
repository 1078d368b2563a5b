/** Answers what the admin API does not have: a known path’s other methods with a 405 that lists its own, other paths with a 404. */
import { refuse } from '../errors.ts'
import { type AdminOptions, openController } from './controller.ts'
import { notFound } from './ids.ts'

export function createMethodsController(options: AdminOptions, routes: readonly { method: string; path: string }[]) {
  const controller = openController(options, '', 'Sessions')
  for (const [path, known] of Map.groupBy(routes, route => route.path)) {
    const allowed = known.map(({ method }) => method).join(', ')
    controller.all(
      path,
      () => {
        throw refuse('methodNotAllowed', { allowed, methods: allowed.replace(/, ([A-Z]+)$/, ' and $1') })
      },
      { detail: { hide: true } },
    )
  }
  return controller.all(
    '/v1/organization/*',
    () => {
      throw notFound('The admin API has no such path; /openapi.json lists those that it has.')
    },
    { detail: { hide: true } },
  )
}
