/** Maps paths to pages. */
import { createRootRoute, createRoute, createRouter, Outlet } from '@tanstack/react-router'
import { Account } from './screens/account.tsx'
import { ApiKeys } from './screens/api-keys.tsx'
import { AuditLog } from './screens/audit-log.tsx'
import { Cache } from './screens/cache.tsx'
import { Home } from './screens/home.tsx'
import { Invitation } from './screens/invitation.tsx'
import { LimitsPage } from './screens/limits.tsx'
import { Members } from './screens/members.tsx'
import { Overview } from './screens/overview.tsx'
import { Playground } from './screens/playground.tsx'
import { Projects } from './screens/projects.tsx'
import { ProviderKeys } from './screens/provider-keys.tsx'
import { RequestStory } from './screens/request-story.tsx'
import { Requests } from './screens/requests.tsx'
import { NotFound, Shell } from './screens/shell.tsx'
import { Webhooks } from './screens/webhooks.tsx'

/** Filters are kept in the URL as plain text. Each page parses its own. */
function readSearch(search: Record<string, unknown>): Record<string, string> {
  const given = Object.entries(search).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
}

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, validateSearch: readSearch })
const invitation = createRoute({ getParentRoute: () => root, path: '/invitation', component: Invitation })
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell })
const page = (path: string, component: () => React.ReactNode) =>
  createRoute({ getParentRoute: () => shell, path, component })

export function makeRouter() {
  return createRouter({
    basepath: '/dashboard',
    defaultPreload: false,
    scrollRestoration: true,
    routeTree: root.addChildren([
      invitation,
      shell.addChildren([
        page('/', Home),
        page('/projects', Projects),
        page('/audit', AuditLog),
        page('/account', Account),
        page('/$project/overview', Overview),
        page('/$project/requests', Requests),
        page('/$project/requests/$request', RequestStory),
        page('/$project/cache', Cache),
        page('/$project/playground', Playground),
        page('/$project/keys', ApiKeys),
        page('/$project/provider-keys', ProviderKeys),
        page('/$project/webhooks', Webhooks),
        page('/$project/limits', LimitsPage),
        page('/$project/members', Members),
        page('/$project/audit', AuditLog),
        page('/$', NotFound),
      ]),
    ]),
  })
}
