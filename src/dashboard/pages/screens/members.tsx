/** A project's members and their roles. */
import type { Action } from '../components/actions.tsx'
import { Badge, UserText } from '../components/elements.tsx'
import { LoginStatus } from '../components/login-status.tsx'
import { Resource } from '../components/resource.tsx'
import { formatDate, isolateDirection } from '../format.ts'
import { useProjectPath } from '../session.ts'
import type { Role, ViewRow } from '../types.ts'
import { createInviteAction } from './invite-action.tsx'

type Member = ViewRow<'project_users'>

const ROLES: [Role, string][] = [
  ['viewer', 'Viewer – looks'],
  ['member', 'Member – also keys, settings and the cache'],
  ['owner', 'Owner – also provider keys and members'],
]

export default function Members() {
  return (
    <Resource<Member>
      page={{
        title: 'Members',
        help: 'Administrators see every project without being members of it. Whoever has no account yet gets a link to set a password; another one is an administrator’s to give. The last owner who can log in stays one.',
      }}
      path={useProjectPath('users')}
      empty={{
        title: 'No members yet',
        help: 'Only administrators see this project. Add people by their e-mail address.',
      }}
      nameOf={member => member.email}
      columns={[
        {
          title: 'E-mail address',
          look: 'strong',
          cell: member => <UserText className="!min-w-44">{member.email}</UserText>,
        },
        { title: 'State', cell: member => <LoginStatus person={member} /> },
        {
          title: 'Role',
          cell: member => <Badge>{member.role}</Badge>,
          change: { field: 'role', choices: ROLES.map(([role]) => role), needs: 'owner' },
        },
        { title: 'Added', look: 'line', cell: member => formatDate(member.added_at) },
      ]}
      make={{ ...createInviteAction('Add member', ROLES), requiredRole: 'owner' }}
      actions={[REMOVE]}
    />
  )
}

const REMOVE: Action<Member> = {
  title: 'Remove',
  requiredRole: 'owner',
  method: 'DELETE',
  confirmation: member => ({
    title: `Remove ${isolateDirection(member.email)}?`,
    action: 'Remove member',
    text: 'They stop seeing this project at once. Keys they made keep working; deactivate those under API keys.',
  }),
}
