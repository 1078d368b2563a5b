/** The routes of all pages. The code of a page is loaded when it is first opened. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { throwUnreachable } from './api.ts'
import { PAGE_ENTRIES, type PageEntry } from './pages.ts'
import { AppShell, LoadError, NotFound } from './screens/app-shell.tsx'
import Home from './screens/home.tsx'
import Overview from './screens/overview.tsx'

/**
 * Loads a page. If the code cannot be loaded because the proxy is unreachable, the error is shown inside the frame. If the proxy is
 * reachable, it serves a newer version, and the router reloads the whole page.
 */
function loadScreen(load: NonNullable<PageEntry['load']>) {
  return lazyRouteComponent(() =>
    load().catch(async error => {
      await fetch('/dashboard', { method: 'HEAD' }).catch(throwUnreachable)
      throw error
    }),
  )
}

/** Reads the filters in the URL as text. Each page parses its own filters. */
function readSearch(search: Record<string, unknown>): Record<string, string> {
  const filters = Object.entries(search).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
  return Object.fromEntries(filters.map(([name, value]) => [name, String(value)]))
}

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, validateSearch: readSearch })
const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: loadScreen(() => import('./screens/invitation.tsx')),
})
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: AppShell })
/** The pages after the login. They are part of the first file, which is smaller than the files that they would be split into. */
const FIRST_PAGES: Readonly<Record<string, () => ReactNode>> = { '/': Home, '/$project/overview': Overview }
const pages = PAGE_ENTRIES.map(({ path, load }) =>
  createRoute({
    getParentRoute: () => shell,
    path,
    component: load ? loadScreen(load) : (FIRST_PAGES[path] ?? NotFound),
  }),
)
const notFound = createRoute({ getParentRoute: () => shell, path: '/$', component: NotFound })

export function createDashboardRouter() {
  return createRouter({
    basepath: '/dashboard',
    // A page's code is loaded as soon as the pointer is over its link.
    defaultPreload: 'intent',
    defaultErrorComponent: LoadError,
    scrollRestoration: true,
    routeTree: root.addChildren([invitation, shell.addChildren([...pages, notFound])]),
  })
}
