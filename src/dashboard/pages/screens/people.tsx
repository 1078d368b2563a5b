/** What the lists of users and of members share: columns, and the action that adds a user by e-mail address. */
import type { Action } from '../components/actions.tsx'
import { Badge, UserText } from '../components/elements.tsx'
import type { SelectOption } from '../components/fields.tsx'
import type { ResourceColumn } from '../components/resource.tsx'
import type { PickerSource } from '../components/use-picker.ts'
import { formatAgo, formatDate, isolateDirection } from '../format.ts'
import type { LoginDetails, User } from '../types.ts'

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

/** The columns of people. Only the column of their roles differs. */
export function listPersonColumns<Person extends LoginDetails & Pick<User, 'email' | 'added_at'>>(
  roles: ResourceColumn<Person>,
): ResourceColumn<Person>[] {
  return [
    {
      title: 'E-mail address',
      look: 'strong',
      cell: ({ email }) => <UserText className="!min-w-44">{email}</UserText>,
    },
    { title: 'Status', cell: person => <LoginStatus person={person} /> },
    roles,
    { title: 'Added', look: 'line', cell: ({ added_at }) => formatDate(added_at) },
  ]
}

/** Shows whether a user can log in, or has been invited. */
function LoginStatus({ person: { can_log_in, invited_until, last_seen_at } }: { person: LoginDetails }) {
  const isInvited = invited_until !== null && invited_until > Date.now() / 1000
  return (
    <span className="whitespace-nowrap">
      {can_log_in ? (
        <Badge look="good">{last_seen_at === null ? 'Active' : `Last seen ${formatAgo(last_seen_at)}`}</Badge>
      ) : isInvited ? (
        <Badge look="warn">Invited until {formatDate(invited_until)}</Badge>
      ) : (
        <Badge look="bad">{invited_until === null ? 'Not invited' : 'Invitation expired'}</Badge>
      )}
    </span>
  )
}
