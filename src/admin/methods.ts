/** Answers known paths of the admin API with an unsupported method: a 405 that lists the supported ones. */
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
