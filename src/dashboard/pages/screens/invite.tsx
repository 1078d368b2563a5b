/** Adds a person by their e-mail address, and shows the link with which they set a password, if they need one. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api.ts'
import { SelectField, TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { ShownOnce } from '../components/shown-once.tsx'
import { isolated } from '../format.ts'

interface InviteProps {
  /** What the dialog is called, and its button. */
  title: string
  /** Takes the address and the role. */
  path: string
  /** The first is chosen at first. */
  roles: readonly (readonly [role: string, title: string])[]
  onDone(): void
  onClose(): void
}

export function Invite({ title, path, roles, onDone, onClose }: InviteProps) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState(roles[0]?.[0] ?? '')
  const adding = useMutation({
    mutationFn: () => call<{ invitation?: string }>('POST', path, { email, role }),
    onSuccess: added => {
      onDone()
      if (added.invitation === undefined) onClose()
    },
  })
  const invitation = adding.data?.invitation
  if (invitation !== undefined) return <InvitationLink email={email} invitation={invitation} onClose={onClose} />
  return (
    <FormDialog title={title} action={title} sending={adding} onClose={onClose}>
      <TextField
        label="E-mail address"
        inputMode="email"
        required
        autoComplete="off"
        value={email}
        onChange={setEmail}
      />
      <SelectField label="Role" value={role} choices={roles} onChange={setRole} />
    </FormDialog>
  )
}

export function InvitationLink({ email, invitation, onClose }: { email: string; invitation: string; onClose(): void }) {
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
