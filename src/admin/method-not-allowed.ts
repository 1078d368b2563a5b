/** Answers what the admin API does not have: a known path’s other methods with a 405 that lists its own, other paths with a 404. */
import { createError } from '../errors/errors.ts'
import { type AdminOptions, createPublicController } from './controller.ts'
import { notFoundError } from './ids.ts'

/** What OpenAI's clients call, and is called otherwise here. */
const INSTEAD: Readonly<Record<string, string>> = {
  service_accounts:
    'A service account has one key: POST …/projects/{project_id}/api_keys/{key_id}/rotate gives it another value',
  usage: 'Calls of tools count with the request that made them, in usage/completions and costs',
  groups: 'Groups are those of your OpenID Connect provider: OIDC_GROUP_ROLES gives them roles',
  roles:
    'Users are owner or reader, at …/users; members of a project owner, member or viewer, at …/projects/{project_id}/users',
  external_keys: 'Keys of providers are stored at …/projects/{project_id}/provider_keys/{provider}',
  data_retention:
    'What is kept is said by the settings log_content and cache_ttl_seconds, at …/projects/{project_id}/settings',
}

function describeMissing(path: string): string {
  const [, name = ''] = /^\/v1\/organization\/(?:projects\/[^/]*\/)?([a-z_]+)/.exec(path) ?? []
  const instead = Object.hasOwn(INSTEAD, name) ? INSTEAD[name] : undefined
  return `The admin API has no such path. ${instead ? `${instead}. ` : ''}/openapi.json lists those that it has.`
}

export function createMethodNotAllowedController(
  options: AdminOptions,
  routes: readonly { method: string; path: string }[],
) {
  const controller = createPublicController(options, '', 'Sessions')
  for (const [path, known] of Map.groupBy(routes, route => route.path)) {
    const allowed = known.map(({ method }) => method).join(', ')
    controller.all(
      path,
      () => {
        throw createError('methodNotAllowed', { allowed, methods: allowed.replace(/, ([A-Z]+)$/, ' and $1') })
      },
      { detail: { hide: true } },
    )
  }
  return controller.all(
    '/v1/organization/*',
    ({ path }) => {
      throw notFoundError(describeMissing(path))
    },
    { detail: { hide: true } },
  )
}
