/** Accepts an invitation: takes its token and a new password. */
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call } from '../api.ts'
import { Button, Problem } from '../components/basics.tsx'
import { NewPasswordField, TextField } from '../components/fields.tsx'
import { LoginLayout } from './login.tsx'

export default function Invitation() {
  // The fragment after # is not sent to the server, so the token reaches no access log.
  const [invitation, setInvitation] = useState(() => window.location.hash.slice(1))
  const [password, setPassword] = useState('')
  const taking = useMutation({
    mutationFn: () => call('POST', '/dashboard/api/invitation', { invitation: invitation.trim(), password }),
    onSuccess: () => window.location.assign('/dashboard'),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    taking.mutate()
  }
  return (
    <LoginLayout title="Choose a password">
      <form onSubmit={submit} className="space-y-4">
        <TextField
          label="Invitation"
          required
          autoComplete="off"
          spellCheck={false}
          placeholder="lgw_invite_…"
          value={invitation}
          onChange={setInvitation}
        />
        <NewPasswordField
          label="New password"
          hint="At least 12 characters. A few unrelated words do well."
          value={password}
          onChange={setPassword}
        />
        <Problem error={taking.error} />
        <Button type="submit" look="primary" className="w-full" disabled={taking.isPending}>
          Set password and log in
        </Button>
      </form>
    </LoginLayout>
  )
}
