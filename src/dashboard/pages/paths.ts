/** The paths of all pages below /dashboard. The router gives each its screen; tests visit them all. */

/** `$name` stands for one part of a path, `$` for any rest. */
export const PATHS = [
  '/',
  '/projects',
  '/users',
  '/audit',
  '/account',
  '/$project/overview',
  '/$project/requests',
  '/$project/requests/$request',
  '/$project/cache',
  '/$project/playground',
  '/$project/audit',
  '/$project/settings',
  '/$project/settings/keys',
  '/$project/settings/provider-keys',
  '/$project/settings/policy',
  '/$project/settings/limits',
  '/$project/settings/webhooks',
  '/$project/settings/members',
  '/$',
] as const

export type Path = (typeof PATHS)[number]
