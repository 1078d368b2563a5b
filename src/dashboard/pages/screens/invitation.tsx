/** The invitation page: accepts an invitation and sets a password. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { sendRequest } from '../api.ts'
import { Button } from '../components/elements.tsx'
import { Form, type FormField, NEW_PASSWORD_FIELD } from '../components/form.tsx'
import { LoginLayout } from './login.tsx'

const INVITATION: FormField = {
  name: 'invitation',
  label: 'Token from your link',
  spellCheck: false,
  placeholder: 'lgw_invite_…',
  read: text => text.trim(),
}
const PASSWORD: FormField = {
  ...NEW_PASSWORD_FIELD,
  name: 'password',
  hint: 'At least 12 characters. Several unrelated words make a good password.',
}

export default function Invitation() {
  // The fragment after # is not sent to the server, so the token reaches no access log.
  const [token] = useState(() => window.location.hash.slice(1))
  const accepting = useMutation({
    mutationFn: (body: unknown) => sendRequest('POST', '/dashboard/api/invitation', body),
    onSuccess: () => window.location.assign('/dashboard'),
  })
  return (
    <LoginLayout title="Choose a password">
      <Form fields={[{ ...INVITATION, initial: token }, PASSWORD]} sending={accepting}>
        <Button type="submit" look="primary" className="w-full" disabled={accepting.isPending}>
          Set password and log in
        </Button>
      </Form>
    </LoginLayout>
  )
}
