/** A project's members and their roles. */
import type { Action } from '../components/actions.tsx'
import { Badge } from '../components/elements.tsx'
import { searchNames } from '../components/picker-sources.ts'
import { Resource } from '../components/resource.tsx'
import { capitalize, isolateDirection } from '../format.ts'
import { useProjectPath } from '../session.ts'
import type { Role, ViewRow } from '../types.ts'
import { createInviteAction, listPersonColumns } from './people.tsx'

type Member = ViewRow<'project_users'>

const ROLES: [Role, string][] = [
  ['viewer', 'Viewer – read only'],
  ['member', 'Member – also manages keys, settings and the cache'],
  ['owner', 'Owner – also manages provider keys, key limits, budgets, webhooks, members and end-user data'],
]

export default function Members() {
  return (
    <Resource<Member>
      page={{
        title: 'Members',
        help: 'Administrators can see every project without being members. You get a link to send to a new user, who sets a password with it; only administrators can reset passwords. The last owner who can log in cannot be removed.',
      }}
      path={useProjectPath('users')}
      empty={{
        title: 'No members yet',
        help: 'Only administrators can see this project. Add members by e-mail address.',
      }}
      nameOf={member => member.email}
      columns={listPersonColumns<Member>({
        title: 'Role',
        cell: member => <Badge>{capitalize(member.role)}</Badge>,
        change: { field: 'role', choices: ROLES.map(([role]) => [role, capitalize(role)] as const), needs: 'owner' },
      })}
      create={{
        ...createInviteAction('Add member', ROLES, { ...searchNames('user', null), allowsNew: true }),
        requiredRole: 'owner',
      }}
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
    text: 'The user loses access to this project immediately. API keys that the user created keep working; deactivate them under API keys.',
  }),
}
