/** The admin API's paths, asked with a method that they do not have: a 405 that says which they do. */
import { refuse } from '../errors.ts'
import { type AdminOptions, openController } from './controller.ts'

export function createMethodsController(options: AdminOptions, routes: readonly { method: string; path: string }[]) {
  const controller = openController(options, '')
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
  return controller
}
