/** All pages below /dashboard: path, component, and link in the menu. */
import type { ComponentType } from 'react'

export interface PageEntry {
  /** A path pattern. `$name` matches one segment. */
  path: string
  /** Loads the code of the page when it is first opened. */
  load(): Promise<{ default: ComponentType }>
  /** The section of the menu and the text of the link. Links have the order of this table. */
  link?: readonly [menu: 'project' | 'settings' | 'administrators' | 'own', title: string]
}

export const PAGE_ENTRIES: readonly PageEntry[] = [
  { path: '/', load: () => import('./screens/home.tsx') },

  { path: '/$project/overview', load: () => import('./screens/overview.tsx'), link: ['project', 'Overview'] },
  { path: '/$project/costs', load: () => import('./screens/costs.tsx'), link: ['project', 'Costs'] },
  { path: '/$project/sessions', load: () => import('./screens/agent-sessions.tsx'), link: ['project', 'Sessions'] },
  { path: '/$project/end-users', load: () => import('./screens/end-users.tsx'), link: ['project', 'End users'] },
  { path: '/$project/requests', load: () => import('./screens/requests.tsx'), link: ['project', 'Requests'] },
  { path: '/$project/requests/$request', load: () => import('./screens/request-details.tsx') },
  { path: '/$project/cache', load: () => import('./screens/cache.tsx'), link: ['project', 'Cache'] },
  { path: '/$project/playground', load: () => import('./screens/playground.tsx'), link: ['project', 'Playground'] },
  { path: '/$project/audit', load: () => import('./screens/audit-log.tsx'), link: ['project', 'Audit log'] },

  { path: '/$project/settings', load: () => import('./screens/project-settings.tsx'), link: ['settings', 'General'] },
  { path: '/$project/settings/keys', load: () => import('./screens/api-keys.tsx'), link: ['settings', 'API keys'] },
  {
    path: '/$project/settings/provider-keys',
    load: () => import('./screens/provider-keys.tsx'),
    link: ['settings', 'Provider keys'],
  },
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

  { path: '/projects', load: () => import('./screens/projects.tsx'), link: ['administrators', 'Organization'] },
  { path: '/vendors', load: () => import('./screens/vendors.tsx'), link: ['administrators', 'Vendors'] },
  { path: '/users', load: () => import('./screens/users.tsx'), link: ['administrators', 'Users'] },
  {
    path: '/audit',
    load: () => import('./screens/audit-log.tsx'),
    link: ['administrators', 'Audit log (all projects)'],
  },
  { path: '/account', load: () => import('./screens/account.tsx'), link: ['own', 'Account'] },
]
