/** A project's members and their roles. */

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api.ts'
import { Badge, Button, Card, Empty, Name, PageHeader, Problem } from '../components/basics.tsx'
import { Confirm } from '../components/confirm.tsx'
import { LoginState } from '../components/login-state.tsx'
import { Select } from '../components/select.tsx'
import { buttonColumn, type Column, Table } from '../components/table.tsx'
import { formatDate, isolated } from '../format.ts'
import { usePaged } from '../paged.ts'
import { may, useProject } from '../session.ts'
import type { Member, Role } from '../types.ts'
import { Invite } from './invite.tsx'

const ROLES: [Role, string][] = [
  ['viewer', 'Viewer – looks'],
  ['member', 'Member – also keys, settings and the cache'],
  ['owner', 'Owner – also provider keys and members'],
]

export function Members() {
  const project = useProject()
  const queries = useQueryClient()
  const [isAdding, setAdding] = useState(false)
  const [going, setGoing] = useState<Member | null>(null)
  const path = `/v1/organization/projects/${project?.id}/users`
  const members = usePaged<Member>(path, { limit: 50 }, { enabled: project !== null })
  const refresh = () => queries.invalidateQueries({ queryKey: [path] })
  const mayChange = may(project, 'owner')
  const change = useMutation({
    mutationFn: ({ id, role }: { id: string; role: string }) => call('POST', `${path}/${id}`, { role }),
    onSettled: refresh,
  })
  const add = mayChange && (
    <Button look="primary" onClick={() => setAdding(true)}>
      Add member
    </Button>
  )
  return (
    <>
      <PageHeader title="Members" action={add}>
        Administrators see every project without being members of it. Whoever has no account yet gets a link to set a
        password; another one is an administrator’s to give. The last owner who can log in stays one.
      </PageHeader>
      <Problem error={change.error} />
      <Card>
        <Table
          label="Members"
          {...members}
          keyOf={member => member.id}
          empty={
            <Empty title="No members yet" action={add}>
              Only administrators see this project. Add people by their e-mail address.
            </Empty>
          }
          columns={columnsOf(mayChange ? { setRole: change.mutate, remove: setGoing } : null)}
        />
      </Card>
      {isAdding && (
        <Invite title="Add member" path={path} roles={ROLES} onDone={refresh} onClose={() => setAdding(false)} />
      )}
      {going && (
        <Confirm
          title={`Remove ${isolated(going.email)}?`}
          action="Remove member"
          run={() => call('DELETE', `${path}/${going.id}`)}
          onDone={refresh}
          onClose={() => setGoing(null)}
        >
          They stop seeing this project at once. Keys they made keep working; deactivate those under API keys.
        </Confirm>
      )}
    </>
  )
}

interface MemberActions {
  setRole(to: { id: string; role: string }): void
  remove(member: Member): void
}

/** `actions` is null when the user may change nothing. */
function columnsOf(actions: MemberActions | null): Column<Member>[] {
  return [
    { title: 'E-mail address', look: 'strong', cell: member => <Name className="!min-w-44">{member.email}</Name> },
    { title: 'State', cell: member => <LoginState person={member} /> },
    {
      title: 'Role',
      cell: member =>
        actions ? (
          <Select
            aria-label={`Role of ${isolated(member.email)}`}
            choices={ROLES.map(([role]) => role)}
            value={member.role}
            onChange={role => actions.setRole({ id: member.id, role })}
          />
        ) : (
          <Badge>{member.role}</Badge>
        ),
    },
    { title: 'Added', look: 'line', cell: member => formatDate(member.added_at) },
    ...(actions ? [buttonColumn<Member>('Remove', member => member.email, actions.remove)] : []),
  ]
}
