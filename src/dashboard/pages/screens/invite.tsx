/** Adding a person by their e-mail address, and the link with which they set a password, if they need one. */
import type { Action } from '../components/actions.tsx'
import type { Choice } from '../components/select.tsx'
import { isolated } from '../format.ts'

/** `title`: what the dialog is called, and its buttons. The first of the roles is chosen at first. */
export function inviteAs(title: string, roles: readonly Choice[]): Action<null> {
  return {
    title,
    ask: () => ({
      fields: [
        { name: 'email', label: 'E-mail address', inputMode: 'email' },
        { name: 'role', label: 'Role', choices: roles },
      ],
    }),
    showOnce: showInvitation,
  }
}

/** Null for whoever can log in already. */
export function showInvitation({ email, invitation }: { email: string; invitation?: string }) {
  if (invitation === undefined) return null
  return {
    title: `Invitation for ${isolated(email)}`,
    notice:
      'Send them this link to set their password. It is shown only now, works once, and expires after seven days.',
    value: `${window.location.origin}/dashboard/invitation#${invitation}`,
    copy: 'Copy link',
  }
}
