/** Rejects unsupported methods of known paths with a 405, and unknown paths with a 404. */
import { createError } from '../errors/errors.ts'
import { type AdminOptions, createPublicController } from './controller.ts'
import { notFoundError } from './ids.ts'

/** Alternatives to paths of OpenAI's API that this API does not have. */
const ALTERNATIVES: Readonly<Record<string, string>> = {
  service_accounts:
    'A service account has one key. POST …/projects/{project_id}/api_keys/{key_id}/rotate replaces its value',
  usage: 'Calls of tools count with the request that made them, in usage/completions and costs',
  groups: 'Groups are those of your OpenID Connect provider. OIDC_GROUP_ROLES assigns roles to them',
  roles:
    'Users are owner or reader, at …/users; members of a project owner, member or viewer, at …/projects/{project_id}/users',
  external_keys: 'Keys of providers are stored at …/projects/{project_id}/provider_keys/{provider}',
  data_retention:
    'The settings log_content and cache_ttl_seconds at …/projects/{project_id}/settings control retention',
}

function describeMissing(path: string): string {
  const [, name = ''] = /^\/v1\/organization\/(?:projects\/[^/]*\/)?([a-z_]+)/.exec(path) ?? []
  const alternative = Object.hasOwn(ALTERNATIVES, name) ? ALTERNATIVES[name] : undefined
  return `The admin API has no such path. ${alternative ? `${alternative}. ` : ''}/openapi.json lists its paths.`
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
