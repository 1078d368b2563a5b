/** The user's own account: password, sessions and admin API keys. */
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call } from '../api.ts'
import { Button, Card, PageHeader, Problem } from '../components/basics.tsx'
import { NewPasswordField, TextField } from '../components/fields.tsx'
import { plain } from '../format.ts'
import { isAdministrator, useSession } from '../session.ts'
import { AdminKeys } from './admin-keys.tsx'
import { Sessions } from './sessions.tsx'

export default function Account() {
  const session = useSession()
  return (
    <>
      <PageHeader title="Account">{plain(session.data?.user.email ?? '')}</PageHeader>
      <div className="space-y-5">
        <Password />
        <Sessions />
        {isAdministrator(session.data) && <AdminKeys />}
      </div>
    </>
  )
}

function Password() {
  const [password, setPassword] = useState('')
  const [next, setNext] = useState('')
  const changing = useMutation({
    mutationFn: () => call('POST', '/dashboard/api/password', { password, new_password: next }),
    onSuccess: () => {
      setPassword('')
      setNext('')
    },
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    changing.mutate()
  }
  return (
    <Card title="Password">
      <form onSubmit={submit} className="space-y-4 p-4">
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={setPassword}
        />
        <NewPasswordField label="New password" hint="At least 12 characters." value={next} onChange={setNext} />
        <Problem error={changing.error} />
        <div className="flex items-center justify-end gap-3">
          <span role="status" className="text-xs text-muted">
            {changing.isSuccess ? 'Changed.' : ''}
          </span>
          <Button type="submit" look="primary" disabled={changing.isPending}>
            Change password
          </Button>
        </div>
      </form>
    </Card>
  )
}
