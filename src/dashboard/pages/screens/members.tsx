/** A project's members and their roles. */
import type { Action } from '../components/actions.tsx'
import { Badge, Name } from '../components/basics.tsx'
import { LoginState } from '../components/login-state.tsx'
import { Resource } from '../components/resource.tsx'
import { formatDate, isolated } from '../format.ts'
import { useProjectPath } from '../session.ts'
import type { Role, Shown } from '../types.ts'
import { inviteAs } from './invite.tsx'

type Member = Shown<'project_users'>

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
        { title: 'E-mail address', look: 'strong', cell: member => <Name className="!min-w-44">{member.email}</Name> },
        { title: 'State', cell: member => <LoginState person={member} /> },
        {
          title: 'Role',
          cell: member => <Badge>{member.role}</Badge>,
          change: { field: 'role', choices: ROLES.map(([role]) => role), needs: 'owner' },
        },
        { title: 'Added', look: 'line', cell: member => formatDate(member.added_at) },
      ]}
      make={{ ...inviteAs('Add member', ROLES), needs: 'owner' }}
      actions={[REMOVE]}
    />
  )
}

const REMOVE: Action<Member> = {
  title: 'Remove',
  needs: 'owner',
  method: 'DELETE',
  ask: member => ({
    title: `Remove ${isolated(member.email)}?`,
    action: 'Remove member',
    text: 'They stop seeing this project at once. Keys they made keep working; deactivate those under API keys.',
  }),
}
