/** The installation's users: administrators (`owner`) and others (`reader`). Their invitations come with the answers that make them, as no mail is sent. */
import { t } from 'elysia'
import { callAs } from '../../postgres/admin/call-as.ts'
import { objectOf, text } from '../answers/shared.ts'
import { email, memberRole, strict, userRole } from '../field-types.ts'
import { formatId, requireId } from '../ids.ts'
import { object } from '../objects.ts'
import { change, collection, list, make, read, remove } from '../operations.ts'
import { several } from '../pages.ts'
import { serveBy } from '../table-row.ts'

export const invitation = t.String({ description: 'For somebody who cannot log in yet; shown this once.' })
const user = object('User', 'organization.user', 'organization_users', 'user', 'There is no such user.')
const addedUser = t.Object({ ...user.schema.properties, invitation: t.Optional(invitation) }, { $id: 'AddedUser' })
const invite = object('Invite', 'organization.invite', 'organization_invites', 'invite', 'There is no such invite.')
const addedInvite = t.Object({ ...invite.schema.properties, invitation: t.String() }, { $id: 'AddedInvite' })

export const users = collection(user, {
  tag: 'Users',
  base: '/v1/organization/users',
  own: 'user_id',
  functionsRefuse: true,
})
/** OpenAI's invites: users who were added to set a password. */
const invites = collection(invite, {
  tag: 'Users',
  base: '/v1/organization/invites',
  own: 'invite_id',
  functionsRefuse: true,
})

export const USERS = [
  list(users, 'List users', {
    query: { emails: several(t.String()) },
    filter: ({ query }) => ({ _email: query.emails?.map(address => address.toLowerCase()) }),
  }),
  make(users, 'Add a user, with an invitation', {
    answer: addedUser,
    body: { email, role: t.Optional(userRole) },
    calls: [
      'invite_new_user',
      ({ body: { email, role = 'reader' } }) => ({ email, user_role: role, of_projects: [], member_roles: [] }),
    ],
  }),
  read(users, 'Read a user'),
  change(users, 'Change a user’s role', {
    body: { role: userRole },
    calls: ['set_user_role', ({ ids, body }) => ({ of_user: ids.user_id, user_role: body.role })],
  }),
  serveBy({
    method: 'POST',
    path: '/v1/organization/users/:user_id/invitation',
    kinds: { user_id: 'user' },
    tag: 'Users',
    summary: 'Invite a user again',
    answer: objectOf('Invitation', 'organization.user.invitation', { id: text, invitation: text }),
    async serve({ caller, ids }) {
      const invitation = await callAs(caller.actor, 'invite_user', { of_user: ids.user_id })
      return { object: 'organization.user.invitation', id: formatId('user', ids.user_id), invitation }
    },
  }),
  remove(users, 'Delete a user', ['delete_user', ({ ids }) => ({ of_user: ids.user_id })]),

  list(invites, 'List invites: users, and whether they took theirs up'),
  make(invites, 'Invite somebody; the answer has the token to pass on', {
    answer: addedInvite,
    body: {
      email,
      role: userRole,
      projects: t.Optional(t.Array(t.Object({ id: t.String(), role: memberRole }, strict), { maxItems: 100 })),
    },
    calls: [
      'invite_new_user',
      ({ body: { email, role, projects = [] } }) => ({
        email,
        user_role: role,
        of_projects: projects.map(({ id }) => requireId('proj', id)),
        member_roles: projects.map(({ role }) => role),
      }),
    ],
  }),
  read(invites, 'Read an invite'),
  remove(invites, 'Take back an invite, with the user', ['delete_invite', ({ ids }) => ({ of_user: ids.invite_id })]),
]
