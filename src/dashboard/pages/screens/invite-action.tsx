/** Adding a person by their e-mail address, and the link with which they set a password, if they need one. */
import type { Action } from '../components/actions.tsx'
import type { SelectOption } from '../components/select.tsx'
import { isolateDirection } from '../format.ts'

/** `title`: what the dialog is called, and its buttons. The first of the roles is chosen at first. */
export function createInviteAction(title: string, roles: readonly SelectOption[]): Action<null> {
  return {
    title,
    confirmation: () => ({
      fields: [
        { name: 'email', label: 'E-mail address', inputMode: 'email' },
        { name: 'role', label: 'Role', choices: roles },
      ],
    }),
    showOnce: describeInvitation,
  }
}

/** Null for whoever can log in already. */
export function describeInvitation({ email, invitation }: { email: string; invitation?: string }) {
  if (invitation === undefined) return null
  return {
    title: `Invitation for ${isolateDirection(email)}`,
    notice:
      'Send them this link to set their password. It is shown only now, works once, and expires after seven days.',
    value: `${window.location.origin}/dashboard/invitation#${invitation}`,
    copy: 'Copy link',
  }
}
