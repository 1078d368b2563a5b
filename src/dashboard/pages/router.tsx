/** Gives each path its page. A page's code is loaded when it is first opened. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import { throwUnreachable } from './api.ts'
import { PAGE_ENTRIES, type PageEntry } from './pages.ts'
import { AppShell, LoadError, NotFound } from './screens/app-shell.tsx'

/** Where the proxy is gone, the frame stays. Where it is there, it has a newer version of the page: the router loads it whole. */
function screenOf(load: PageEntry['load']) {
  return lazyRouteComponent(() =>
    load().catch(async error => {
      await fetch('/dashboard', { method: 'HEAD' }).catch(throwUnreachable)
      throw error
    }),
  )
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
  component: screenOf(() => import('./screens/invitation.tsx')),
})
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: AppShell })
const pages = PAGE_ENTRIES.map(({ path, load }) =>
  createRoute({ getParentRoute: () => shell, path, component: screenOf(load) }),
)
const anyOther = createRoute({ getParentRoute: () => shell, path: '/$', component: NotFound })

export function createDashboardRouter() {
  return createRouter({
    basepath: '/dashboard',
    // The code of the page, as soon as its link is pointed at.
    defaultPreload: 'intent',
    defaultErrorComponent: LoadError,
    scrollRestoration: true,
    routeTree: root.addChildren([invitation, shell.addChildren([...pages, anyOther])]),
  })
}
