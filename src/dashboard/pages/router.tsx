/** Gives each path its page. A page's code is loaded when it is first opened. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  type RouteComponent,
} from '@tanstack/react-router'
import { refuseUnreachable } from './api.ts'
import { PATHS, type Path } from './paths.ts'
import { Home } from './screens/home.tsx'
import { NotFound, NotLoaded, Shell } from './screens/shell.tsx'

/** Where the proxy is gone, the frame stays. Where it is there, it has a newer version of the page: the router loads it whole. */
function page<Module extends Record<string, unknown>, Name extends keyof Module & string>(
  load: () => Promise<Module>,
  name: Name,
): RouteComponent {
  const loadOrTell = () =>
    load().catch(async error => {
      await fetch('/dashboard', { method: 'HEAD' }).catch(refuseUnreachable)
      throw error
    })
  return lazyRouteComponent(loadOrTell, name) as RouteComponent
}

const auditLog = page(() => import('./screens/audit-log.tsx'), 'AuditLog')

const PAGES: Record<Path, RouteComponent> = {
  '/': Home,
  '/projects': page(() => import('./screens/projects.tsx'), 'Projects'),
  '/users': page(() => import('./screens/users.tsx'), 'Users'),
  '/audit': auditLog,
  '/account': page(() => import('./screens/account.tsx'), 'Account'),
  '/$project/overview': page(() => import('./screens/overview.tsx'), 'Overview'),
  '/$project/requests': page(() => import('./screens/requests.tsx'), 'Requests'),
  '/$project/requests/$request': page(() => import('./screens/request-story.tsx'), 'RequestStory'),
  '/$project/cache': page(() => import('./screens/cache.tsx'), 'Cache'),
  '/$project/playground': page(() => import('./screens/playground.tsx'), 'Playground'),
  '/$project/audit': auditLog,
  '/$project/settings': page(() => import('./screens/project-settings.tsx'), 'ProjectSettings'),
  '/$project/settings/keys': page(() => import('./screens/api-keys.tsx'), 'ApiKeys'),
  '/$project/settings/provider-keys': page(() => import('./screens/provider-keys.tsx'), 'ProviderKeys'),
  '/$project/settings/policy': page(() => import('./screens/policy.tsx'), 'Policy'),
  '/$project/settings/limits': page(() => import('./screens/limits.tsx'), 'LimitsPage'),
  '/$project/settings/webhooks': page(() => import('./screens/webhooks.tsx'), 'Webhooks'),
  '/$project/settings/members': page(() => import('./screens/members.tsx'), 'Members'),
  '/$': NotFound,
}

/** Filters are kept in the URL as plain text. Each page parses its own. */
function readSearch(search: Record<string, unknown>): Record<string, string> {
  const given = Object.entries(search).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
}

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, validateSearch: readSearch })
const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: page(() => import('./screens/invitation.tsx'), 'Invitation'),
})
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell })
const pages = PATHS.map(path => createRoute({ getParentRoute: () => shell, path, component: PAGES[path] }))

export function makeRouter() {
  return createRouter({
    basepath: '/dashboard',
    // The code of the page, as soon as its link is pointed at.
    defaultPreload: 'intent',
    defaultErrorComponent: NotLoaded,
    scrollRestoration: true,
    routeTree: root.addChildren([invitation, shell.addChildren(pages)]),
  })
}
