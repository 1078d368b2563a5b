/** All pages below /dashboard: path, component, and link in the menu. */
import type { ComponentType } from 'react'

export interface PageEntry {
  /** A path pattern. `$name` matches one segment. */
  path: string
  /** Loads the code of the page when it is first opened. Without it, the page is part of the first file (router.tsx). */
  load?(): Promise<{ default: ComponentType }>
  /** The section of the menu and the text of the link. Links have the order of this table. */
  link?: readonly [section: MenuSection, title: string]
}

/** The sections of the menu. `organization` is shown to administrators only. */
export const MENU_SECTIONS = {
  monitor: 'Monitor',
  build: 'Build',
  settings: 'Settings',
  organization: 'Administration',
  /** Without a title. */
  own: '',
} as const
export type MenuSection = keyof typeof MENU_SECTIONS

export const PAGE_ENTRIES: readonly PageEntry[] = [
  { path: '/' },

  { path: '/$project/overview', link: ['monitor', 'Overview'] },
  { path: '/$project/requests', load: () => import('./screens/requests.tsx'), link: ['monitor', 'Requests'] },
  { path: '/$project/requests/$request', load: () => import('./screens/request-details.tsx') },
  { path: '/$project/costs', load: () => import('./screens/costs.tsx'), link: ['monitor', 'Costs'] },
  { path: '/$project/sessions', load: () => import('./screens/agent-sessions.tsx'), link: ['monitor', 'Sessions'] },
  { path: '/$project/end-users', load: () => import('./screens/end-users.tsx'), link: ['monitor', 'End users'] },
  { path: '/$project/cache', load: () => import('./screens/cache.tsx'), link: ['monitor', 'Cache'] },

  { path: '/$project/playground', load: () => import('./screens/playground.tsx'), link: ['build', 'Playground'] },
  { path: '/$project/settings/keys', load: () => import('./screens/api-keys.tsx'), link: ['build', 'API keys'] },
  {
    path: '/$project/settings/provider-keys',
    load: () => import('./screens/provider-keys.tsx'),
    link: ['build', 'Provider keys'],
  },

  { path: '/$project/settings', load: () => import('./screens/project-settings.tsx'), link: ['settings', 'General'] },
  {
    path: '/$project/settings/policy',
    load: () => import('./screens/cache-policy.tsx'),
    link: ['settings', 'Cache and models'],
  },
  { path: '/$project/settings/policy/$page', load: () => import('./screens/cache-policy.tsx') },
  {
    path: '/$project/settings/limits',
    load: () => import('./screens/limits.tsx'),
    link: ['settings', 'Limits and budgets'],
  },
  { path: '/$project/settings/alerts', load: () => import('./screens/alerts.tsx'), link: ['settings', 'Alerts'] },
  { path: '/$project/settings/members', load: () => import('./screens/members.tsx'), link: ['settings', 'Members'] },
  { path: '/$project/audit', load: () => import('./screens/audit-log.tsx'), link: ['settings', 'Audit log'] },

  { path: '/projects', load: () => import('./screens/projects.tsx'), link: ['organization', 'Organization'] },
  { path: '/vendors', load: () => import('./screens/vendors.tsx'), link: ['organization', 'Vendors'] },
  { path: '/users', load: () => import('./screens/users.tsx'), link: ['organization', 'Users'] },
  {
    path: '/audit',
    load: () => import('./screens/audit-log.tsx'),
    link: ['organization', 'Audit log (all projects)'],
  },
  { path: '/account', load: () => import('./screens/account.tsx'), link: ['own', 'Account'] },
]
