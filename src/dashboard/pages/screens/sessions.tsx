/** The sessions of the logged-in user. Each can be revoked. */
import type { Action } from '../components/actions.tsx'
import { Badge, Button, UserText } from '../components/elements.tsx'
import { Resource } from '../components/resource.tsx'
import { formatAgo, formatDate } from '../format.ts'
import { logOut } from '../session.ts'
import type { ActiveSession } from '../types.ts'

export function Sessions() {
  return (
    <Resource<ActiveSession>
      path="/dashboard/api/sessions"
      query={{}}
      title="Sessions"
      toolbar={
        <Button look="danger" onClick={() => void logOut(true)}>
          Log out everywhere
        </Button>
      }
      empty={{ title: 'No sessions', help: 'Each login starts a session.' }}
      nameOf={({ address }) => `session from ${address}`}
      columns={[
        {
          title: 'Browser',
          cell: ({ user_agent, is_this_one }) => (
            <>
              <UserText>{describeBrowser(user_agent ?? '')}</UserText>
              {is_this_one && <Badge look="good">Current session</Badge>}
            </>
          ),
        },
        { title: 'Address', look: 'code', cell: ({ address }) => address },
        { title: 'Last used', look: 'line', cell: ({ last_seen_at }) => formatAgo(last_seen_at) },
        { title: 'Started', look: 'line', cell: ({ created_at }) => formatDate(created_at) },
      ]}
      actions={[REVOKE]}
    />
  )
}

/** A browser identifies itself with the names of others, too: the first match counts. */
const BROWSERS = ['Edg', 'OPR', 'Firefox', 'HeadlessChrome', 'Chrome', 'Safari'] as const
const BROWSER_TITLES: Readonly<Record<string, string>> = {
  Edg: 'Edge',
  OPR: 'Opera',
  HeadlessChrome: 'Chrome (headless)',
}
const SYSTEMS = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const

/** Returns a name such as `Firefox on macOS`, or the user agent itself if it is not of a known browser. */
function describeBrowser(userAgent: string): string {
  const browser = BROWSERS.find(name => userAgent.includes(`${name}/`))
  const system = SYSTEMS.find(([part]) => userAgent.includes(part))?.[1]
  if (browser === undefined) return userAgent || 'Unknown'
  return [BROWSER_TITLES[browser] ?? browser, ...(system ? [system] : [])].join(' on ')
}

const REVOKE: Action<ActiveSession> = {
  title: 'Revoke',
  method: 'DELETE',
  isAvailable: ({ is_this_one }) => !is_this_one,
  confirmation: ({ address }) => ({
    title: `Revoke the session from ${address}?`,
    action: 'Revoke session',
    text: 'The browser is logged out immediately.',
  }),
}
