/** Accepts an invitation: takes its token and a new password. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api.ts'
import { type Field, Form, NEW_PASSWORD } from '../components/ask.tsx'
import { Button } from '../components/basics.tsx'
import { LoginLayout } from './login.tsx'

const INVITATION: Field = {
  name: 'invitation',
  label: 'Invitation',
  spellCheck: false,
  placeholder: 'lgw_invite_…',
  read: text => text.trim(),
}
const CHOSEN_PASSWORD: Field = {
  ...NEW_PASSWORD,
  name: 'password',
  hint: 'At least 12 characters. A few unrelated words do well.',
}

export default function Invitation() {
  // The fragment after # is not sent to the server, so the token reaches no access log.
  const [token] = useState(() => window.location.hash.slice(1))
  const taking = useMutation({
    mutationFn: (chosen: unknown) => call('POST', '/dashboard/api/invitation', chosen),
    onSuccess: () => window.location.assign('/dashboard'),
  })
  return (
    <LoginLayout title="Choose a password">
      <Form fields={[{ ...INVITATION, initial: token }, CHOSEN_PASSWORD]} sending={taking}>
        <Button type="submit" look="primary" className="w-full" disabled={taking.isPending}>
          Set password and log in
        </Button>
      </Form>
    </LoginLayout>
  )
}
