/** Admin API keys, for scripts that call the same API as these pages. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api.ts'
import { Button, Card, Empty } from '../components/basics.tsx'
import { Confirm } from '../components/confirm.tsx'
import { TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { ShownOnce } from '../components/shown-once.tsx'
import { buttonColumn, type Column, Table } from '../components/table.tsx'
import { formatAgo, formatDate, isolated } from '../format.ts'
import { usePaged } from '../paged.ts'
import type { AdminKey } from '../types.ts'

const PATH = '/v1/organization/admin_api_keys'

export function AdminKeys() {
  const queries = useQueryClient()
  const keys = usePaged<AdminKey>(PATH, { limit: 50 })
  const [isMaking, setMaking] = useState(false)
  const [going, setGoing] = useState<AdminKey | null>(null)
  const refresh = () => queries.invalidateQueries({ queryKey: [PATH] })
  return (
    <Card title="Admin API keys" action={<Button onClick={() => setMaking(true)}>New admin key</Button>}>
      <Table
        label="Admin API keys"
        {...keys}
        keyOf={key => key.id}
        empty={
          <Empty title="No admin keys">
            With an admin key, OpenAI’s client libraries can manage projects, keys and usage here.
          </Empty>
        }
        columns={columnsOf(setGoing)}
      />
      {isMaking && <MakeAdminKey onDone={refresh} onClose={() => setMaking(false)} />}
      {going && (
        <Confirm
          title={`Delete “${isolated(going.name)}”?`}
          action="Delete key"
          run={() => call('DELETE', `${PATH}/${going.id}`)}
          onDone={refresh}
          onClose={() => setGoing(null)}
        >
          Its requests are refused from the next one on.
        </Confirm>
      )}
    </Card>
  )
}

function columnsOf(remove: (key: AdminKey) => void): Column<AdminKey>[] {
  return [
    { title: 'Name', look: 'strong', cell: key => key.name },
    { title: 'Key', look: 'code', cell: key => key.redacted_value },
    { title: 'Acts for', cell: key => key.owner.name },
    { title: 'Last used', look: 'line', cell: key => formatAgo(key.last_used_at) },
    { title: 'Expires', look: 'line', cell: key => (key.expires_at === null ? 'Never' : formatDate(key.expires_at)) },
    buttonColumn('Delete', key => key.name, remove),
  ]
}

function MakeAdminKey({ onDone, onClose }: { onDone(): void; onClose(): void }) {
  const [name, setName] = useState('')
  const making = useMutation({
    mutationFn: () => call<AdminKey & { value: string }>('POST', PATH, { name, expires_in_seconds: 90 * 86_400 }),
    onSuccess: onDone,
  })
  const value = making.data?.value
  if (value !== undefined) {
    return (
      <ShownOnce
        title="Your new admin key"
        notice="Copy it now: it is shown only once and not stored."
        value={value}
        copy="Copy key"
        onClose={onClose}
      />
    )
  }
  return (
    <FormDialog title="New admin key" action="Create key" sending={making} onClose={onClose}>
      <TextField
        label="Name"
        required
        maxLength={100}
        autoComplete="off"
        hint="It has all your permissions, and expires in 90 days."
        value={name}
        onChange={setName}
      />
    </FormDialog>
  )
}
