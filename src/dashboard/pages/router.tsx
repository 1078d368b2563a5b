/** Gives each path its page. A page's code is loaded when it is first opened. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  type RouteComponent,
} from '@tanstack/react-router'
import { PATHS, type Path } from './paths.ts'
import { Home } from './screens/home.tsx'
import { NotFound, Shell } from './screens/shell.tsx'

const auditLog = lazyRouteComponent(() => import('./screens/audit-log.tsx'), 'AuditLog')

const PAGES: Record<Path, RouteComponent> = {
  '/': Home,
  '/projects': lazyRouteComponent(() => import('./screens/projects.tsx'), 'Projects'),
  '/users': lazyRouteComponent(() => import('./screens/users.tsx'), 'Users'),
  '/audit': auditLog,
  '/account': lazyRouteComponent(() => import('./screens/account.tsx'), 'Account'),
  '/$project/overview': lazyRouteComponent(() => import('./screens/overview.tsx'), 'Overview'),
  '/$project/requests': lazyRouteComponent(() => import('./screens/requests.tsx'), 'Requests'),
  '/$project/requests/$request': lazyRouteComponent(() => import('./screens/request-story.tsx'), 'RequestStory'),
  '/$project/cache': lazyRouteComponent(() => import('./screens/cache.tsx'), 'Cache'),
  '/$project/playground': lazyRouteComponent(() => import('./screens/playground.tsx'), 'Playground'),
  '/$project/audit': auditLog,
  '/$project/settings': lazyRouteComponent(() => import('./screens/project-settings.tsx'), 'ProjectSettings'),
  '/$project/settings/keys': lazyRouteComponent(() => import('./screens/api-keys.tsx'), 'ApiKeys'),
  '/$project/settings/provider-keys': lazyRouteComponent(() => import('./screens/provider-keys.tsx'), 'ProviderKeys'),
  '/$project/settings/policy': lazyRouteComponent(() => import('./screens/policy.tsx'), 'Policy'),
  '/$project/settings/limits': lazyRouteComponent(() => import('./screens/limits.tsx'), 'LimitsPage'),
  '/$project/settings/webhooks': lazyRouteComponent(() => import('./screens/webhooks.tsx'), 'Webhooks'),
  '/$project/settings/members': lazyRouteComponent(() => import('./screens/members.tsx'), 'Members'),
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
  component: lazyRouteComponent(() => import('./screens/invitation.tsx'), 'Invitation'),
})
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell })
const pages = PATHS.map(path => createRoute({ getParentRoute: () => shell, path, component: PAGES[path] }))

export function makeRouter() {
  return createRouter({
    basepath: '/dashboard',
    // The code of the page, as soon as its link is pointed at.
    defaultPreload: 'intent',
    scrollRestoration: true,
    routeTree: root.addChildren([invitation, shell.addChildren(pages)]),
  })
}
