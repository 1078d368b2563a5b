/** Everybody who may log in, for administrators: invited, made administrators, given another password, removed. */
import { useQuery } from '@tanstack/react-query'
import type { Action } from '../components/actions.tsx'
import { Badge, Card, ErrorMessage, UserText } from '../components/elements.tsx'
import { LoginStatus } from '../components/login-status.tsx'
import { Resource } from '../components/resource.tsx'
import { formatDate, isolateDirection } from '../format.ts'
import type { LoginRules, User } from '../types.ts'
import { createInviteAction, describeInvitation } from './invite-action.tsx'

const ROLES = [
  ['reader', 'User – sees the projects they are members of'],
  ['owner', 'Administrator – everything, in every project'],
] as const
const ROLE_NAMES = [
  ['reader', 'User'],
  ['owner', 'Administrator'],
] as const

export default function Users() {
  return (
    <Resource<User>
      page={{
        title: 'Users',
        help: 'Everybody who may log in. Owners of a project may invite to it as well; only here is anybody made an administrator, invited again or given another password.',
      }}
      path="/v1/organization/users"
      empty={{ title: 'No users', help: 'Operators make the first with psql.' }}
      nameOf={user => user.email}
      columns={[
        {
          title: 'E-mail address',
          look: 'strong',
          cell: user => <UserText className="!min-w-44">{user.email}</UserText>,
        },
        { title: 'State', cell: user => <LoginStatus person={user} /> },
        { title: 'Role', cell: user => user.role, change: { field: 'role', choices: ROLE_NAMES } },
        { title: 'Added', look: 'line', cell: user => formatDate(user.added_at) },
      ]}
      make={createInviteAction('Invite user', ROLES)}
      actions={[RESET_PASSWORD, INVITE_AGAIN, REMOVE]}
    >
      <Rules />
    </Resource>
  )
}

/** The same link sets a first password and another one. */
const INVITATION = {
  path: '/invitation',
  look: 'plain',
  showOnce: ({ invitation }: { invitation: string }, { email }: User) => describeInvitation({ email, invitation }),
} as const
const RESET_PASSWORD: Action<User> = { ...INVITATION, title: 'Reset password', isAvailable: user => user.can_log_in }
const INVITE_AGAIN: Action<User> = { ...INVITATION, title: 'Invite again', isAvailable: user => !user.can_log_in }

const REMOVE: Action<User> = {
  title: 'Remove',
  method: 'DELETE',
  confirmation: user => ({
    title: `Remove ${isolateDirection(user.email)}?`,
    action: 'Remove user',
    text: 'Their sessions, memberships and admin keys end at once. API keys that they made belong to the projects, and keep working. A project’s last owner is not removed: make another member its owner first.',
  }),
}

/** Who may log in with the OpenID Connect provider, and as what: the operator's settings. */
function Rules() {
  const rules = useQuery<LoginRules>({ queryKey: ['/dashboard/api/login-rules'] })
  const oidc = rules.data?.oidc
  if (!oidc) return <ErrorMessage error={rules.error} />
  const { issuer, allowed_domains: domains, groups_claim: claim, group_roles: groups } = oidc
  return (
    <Card title={`Logins with ${new URL(issuer).hostname}`}>
      <div className="space-y-3 p-4">
        <p className="text-muted">
          {domains === null ? 'Any verified e-mail address' : `E-mail addresses of ${domains.join(', ')}`}
          {groups === null
            ? ' may log in, as a user. Roles are set above.'
            : ` in one of these groups may log in. Roles are set at each login, by the claim “${isolateDirection(claim)}”:`}
        </p>
        <ul className="space-y-1.5">
          {groups?.map(({ group, role }) => (
            <li key={group} className="flex flex-wrap items-center gap-2">
              <code className="min-w-0 font-mono text-xs [overflow-wrap:anywhere]">{isolateDirection(group)}</code> →
              <Badge>{role === 'owner' ? 'Administrator' : 'User'}</Badge>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  )
}
