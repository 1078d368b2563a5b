/** A project's members and their roles. */

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api.ts'
import { Badge, Button, Card, Empty, PageHeader, Problem } from '../components/basics.tsx'
import { Confirm } from '../components/confirm.tsx'
import { SelectField, TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { Select } from '../components/select.tsx'
import { ShownOnce } from '../components/shown-once.tsx'
import { buttonColumn, type Column, Table } from '../components/table.tsx'
import { formatDate, isolated } from '../format.ts'
import { usePaged } from '../paged.ts'
import { may, useProject } from '../session.ts'
import type { Member, Role } from '../types.ts'

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
        Administrators see every project without being members of it.
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
      {isAdding && <AddMember path={path} onDone={refresh} onClose={() => setAdding(false)} />}
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
    { title: 'E-mail address', look: 'strong', cell: member => member.email },
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

function AddMember({ path, onDone, onClose }: { path: string; onDone(): void; onClose(): void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState('viewer')
  const adding = useMutation({
    mutationFn: () => call<Member>('POST', path, { email, role }),
    onSuccess: member => {
      onDone()
      if (member.invitation === undefined) onClose()
    },
  })
  const invitation = adding.data?.invitation
  if (invitation !== undefined) {
    return (
      <ShownOnce
        title={`Invitation for ${isolated(email)}`}
        notice="Send them this link to set their password. It is shown only now, works once, and expires after seven days."
        value={`${window.location.origin}/dashboard/invitation#${invitation}`}
        copy="Copy link"
        onClose={onClose}
      />
    )
  }
  return (
    <FormDialog title="Add member" action="Add member" sending={adding} onClose={onClose}>
      <TextField
        label="E-mail address"
        inputMode="email"
        required
        autoComplete="off"
        value={email}
        onChange={setEmail}
      />
      <SelectField label="Role" value={role} choices={ROLES} onChange={setRole} />
    </FormDialog>
  )
}
