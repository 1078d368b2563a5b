/** The users page of administrators: invites users, changes roles, resets passwords and deletes users. */
import { useQuery } from '@tanstack/react-query'
import type { Action } from '../components/actions.tsx'
import { Badge, Card, ErrorMessage } from '../components/elements.tsx'
import { Resource } from '../components/resource.tsx'
import { isolateDirection } from '../format.ts'
import type { LoginRules, User } from '../types.ts'
import { createInviteAction, describeInvitation, listPersonColumns } from './people.tsx'

const ROLES = [
  ['reader', 'User – access to projects they are members of'],
  ['owner', 'Administrator – full access to every project'],
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
        help: 'Everyone who can log in. Project owners can also invite users to their project. Only administrators can change roles, resend invitations and reset passwords.',
      }}
      path="/v1/organization/users"
      empty={{ title: 'No users', help: 'Create the first administrator with model-proxy create-admin.' }}
      nameOf={user => user.email}
      columns={listPersonColumns<User>({
        title: 'Role',
        cell: user => user.role,
        change: { field: 'role', choices: ROLE_NAMES },
      })}
      create={createInviteAction('Invite user', ROLES)}
      actions={[RESET_PASSWORD, RESEND_INVITATION, DELETE]}
    >
      <LoginRulesCard />
    </Resource>
  )
}

/** The same kind of link sets the first password and resets it. */
const INVITATION = {
  path: '/invitation',
  look: 'plain',
  showOnce: (response: { invitation: string; mailed: boolean }, { email }: User) =>
    describeInvitation({ email, ...response }),
} as const
const RESET_PASSWORD: Action<User> = { ...INVITATION, title: 'Reset password', isAvailable: user => user.can_log_in }
const RESEND_INVITATION: Action<User> = {
  ...INVITATION,
  title: 'Resend invitation',
  isAvailable: user => !user.can_log_in,
}

const DELETE: Action<User> = {
  title: 'Delete',
  method: 'DELETE',
  confirmation: user => ({
    title: `Delete ${isolateDirection(user.email)}?`,
    action: 'Delete user',
    text: 'The user’s sessions, memberships and admin keys are deleted immediately. API keys that the user created belong to projects and keep working. The last owner of a project cannot be deleted: make another member an owner first.',
  }),
}

/** Shows who may log in with the OpenID Connect provider, and with which role. The operator sets these rules. */
function LoginRulesCard() {
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
            ? ' may log in. New users get the role User; change it in the table above.'
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
