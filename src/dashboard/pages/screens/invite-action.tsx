/** The action that adds a user by e-mail address, and the invitation link with which a new user sets a password. */
import type { Action } from '../components/actions.tsx'
import type { SelectOption } from '../components/select.tsx'
import type { PickerSource } from '../components/use-picker.ts'
import { isolateDirection } from '../format.ts'

/** `title` labels the button and the dialog. The first role is preselected. `picker` searches for existing users. */
export function createInviteAction(title: string, roles: readonly SelectOption[], picker?: PickerSource): Action<null> {
  return {
    title,
    confirmation: () => ({
      fields: [
        { name: 'email', label: 'E-mail address', inputMode: 'email', ...(picker && { picker }) },
        { name: 'role', label: 'Role', choices: roles },
      ],
    }),
    showOnce: describeInvitation,
  }
}

/** Describes the dialog with the invitation link. Returns null for a user who can already log in. */
export function describeInvitation({
  email,
  invitation,
  mailed = false,
}: {
  email: string
  invitation?: string
  mailed?: boolean
}) {
  if (invitation === undefined) return null
  return {
    title: mailed ? `Link sent to ${isolateDirection(email)}` : `Link for ${isolateDirection(email)}`,
    notice: mailed
      ? 'The user got a mail with this link, and sets a password with it. It works once, and expires after seven days.'
      : 'Send this link to the user, who sets a password with it. It works once, expires after seven days, and is shown only here.',
    value: `${window.location.origin}/dashboard/invitation#${invitation}`,
    copy: 'Copy link',
  }
}
