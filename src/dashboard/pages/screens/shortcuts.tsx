/** Links from the overview to what people come for: each opens a page at the right place, or its dialog. */
import { Link } from '@tanstack/react-router'
import { Card } from '../components/elements.tsx'
import { hasRole, isAdministrator, useProject, useSession } from '../session.ts'
import type { Role } from '../types.ts'

interface Shortcut {
  title: string
  /** Below the project's path, except for pages of administrators. */
  path: string
  search?: Record<string, string>
  /** The role in the project, or `administrator`, that the page needs. */
  needs?: Role | 'administrator'
}

const SHORTCUTS: Record<string, readonly Shortcut[]> = {
  Requests: [
    { title: 'Slowest requests', path: 'requests', search: { sort: 'slowest' } },
    { title: 'Most expensive requests', path: 'requests', search: { sort: 'dearest' } },
    { title: 'Rejected requests', path: 'requests', search: { outcome: 'client_error' } },
    { title: 'Provider errors', path: 'requests', search: { outcome: 'server_error' } },
    { title: 'Errors of the last day by code', path: 'requests', search: { span: 'day', open: 'error' } },
    { title: 'Find a request by its ID', path: 'requests', search: { open: 'request' } },
  ],
  Money: [
    { title: 'Costs by team', path: 'costs' },
    { title: 'Sessions of agents', path: 'sessions' },
    { title: 'End users', path: 'end-users' },
    { title: 'Limits and budgets', path: 'settings/limits' },
    { title: 'Alert me', path: 'settings/alerts', search: { open: 'create' }, needs: 'owner' },
    { title: 'Spend of all projects', path: '/projects', needs: 'administrator' },
  ],
  Cache: [
    { title: 'Semantic hits', path: 'cache' },
    { title: 'Near misses', path: 'cache', search: { view: 'near-misses' } },
    { title: 'Cached responses', path: 'cache', search: { view: 'answers' } },
    { title: 'Match policy', path: 'settings/policy' },
    { title: 'Purge the cache', path: 'cache', search: { open: 'purge' }, needs: 'member' },
    { title: 'Ask in the playground', path: 'playground', needs: 'member' },
  ],
  'Keys and people': [
    { title: 'Create an API key', path: 'settings/keys', search: { open: 'create' }, needs: 'member' },
    { title: 'Key budgets, limits and rotation', path: 'settings/keys' },
    { title: 'Deactivated keys', path: 'settings/keys', search: { all: 'true' } },
    { title: 'Find a leaked key', path: 'settings/keys', search: { open: 'find-key' } },
    { title: 'Invite a member', path: 'settings/members', search: { open: 'create' }, needs: 'owner' },
    { title: 'Who changed what', path: 'audit' },
  ],
}

export function Shortcuts() {
  const project = useProject()
  const { data: session } = useSession()
  if (project === null) return null
  const isAllowed = ({ needs = 'viewer' }: Shortcut) =>
    needs === 'administrator' ? isAdministrator(session) : hasRole(project, needs)
  return (
    <Card title="Shortcuts" className="mt-5">
      <nav aria-label="Shortcuts" className="grid gap-x-6 gap-y-5 p-4 sm:grid-cols-2 lg:grid-cols-4">
        {Object.entries(SHORTCUTS).map(([group, shortcuts]) => (
          <section key={group} aria-label={group}>
            <h3 className="text-xs font-medium text-muted">{group}</h3>
            <ul className="mt-1">
              {shortcuts.filter(isAllowed).map(({ title, path, search = {} }) => (
                <li key={title}>
                  <Link
                    to={(path.startsWith('/') ? path : `/${project.id}/${path}`) as never}
                    search={search as never}
                    className="flex min-h-8 items-center text-accent hover:underline max-sm:min-h-10"
                  >
                    {title}
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
    </Card>
  )
}
