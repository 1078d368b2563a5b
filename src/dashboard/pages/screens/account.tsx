/** The account page: password, sessions and admin API keys of the logged-in user. */
import { useMutation } from '@tanstack/react-query'
import { sendRequest } from '../api.ts'
import type { Action } from '../components/actions.tsx'
import { Badge, Button, Card, PageHeader, UserText } from '../components/elements.tsx'
import { FindKeyButton } from '../components/find-key.tsx'
import { Form, NEW_PASSWORD_FIELD, PASSWORD_FIELD } from '../components/form.tsx'
import { Resource } from '../components/resource.tsx'
import { escapeControlCharacters, formatAgo, formatDate } from '../format.ts'
import { isAdministrator, logOut, useSession } from '../session.ts'
import type { ActiveSession } from '../types.ts'
import { AdminKeys } from './admin-keys.tsx'

export default function Account() {
  const session = useSession()
  return (
    <>
      <PageHeader title="Account" action={isAdministrator(session.data) && <FindKeyButton />}>
        {escapeControlCharacters(session.data?.user.email ?? '')}
      </PageHeader>
      <div className="space-y-5">
        <Password />
        <Sessions />
        {isAdministrator(session.data) && <AdminKeys />}
      </div>
    </>
  )
}

const PASSWORD_FIELDS = [
  { ...PASSWORD_FIELD, name: 'password', label: 'Current password' },
  { ...NEW_PASSWORD_FIELD, name: 'new_password', hint: 'At least 12 characters.' },
]

function Password() {
  const saving = useMutation({
    mutationFn: (passwords: unknown) => sendRequest('POST', '/dashboard/api/password', passwords),
  })
  return (
    <Card title="Password">
      <Form fields={PASSWORD_FIELDS} sending={saving} className="max-w-md p-4">
        <div className="flex flex-row-reverse items-center justify-end gap-3">
          <span role="status" className="text-xs text-muted">
            {saving.isSuccess ? 'Password changed.' : ''}
          </span>
          <Button type="submit" look="primary" disabled={saving.isPending}>
            Change password
          </Button>
        </div>
      </Form>
    </Card>
  )
}

/** The sessions of the user. Each can be revoked. */
function Sessions() {
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
