/** The installation's users: administrators (`owner`) and others (`reader`). Their invitations are in the responses that create them, and are mailed where mail is set up. */
import { Type as t } from '@sinclair/typebox'
import { callAsActor } from '../../postgres/admin/call-as.ts'
import type { ViewRow } from '../../postgres/admin/views.ts'
import { type AdminOperation, defineOperation } from '../admin-operation.ts'
import {
  defineCollection,
  defineCreate,
  defineDelete,
  defineList,
  defineRead,
  defineUpdate,
} from '../define-operations.ts'
import { emailSchema, memberRoleSchema, STRICT_OBJECT, userRoleSchema } from '../field-types.ts'
import { findObject } from '../find-objects.ts'
import { formatId, requireId } from '../ids.ts'
import { defineObject } from '../objects.ts'
import { repeatableParameter } from '../pagination.ts'
import { objectSchema, textSchema } from '../responses/shared.ts'

export const invitationSchema = t.String({ description: 'For somebody who cannot log in yet; shown this once.' })
/** Fields of a response with an invitation. */
export const invitationFields = {
  invitation: t.Optional(invitationSchema),
  mailed: t.Optional(t.Boolean({ description: 'Whether the invitation was mailed. Absent without an invitation.' })),
}

/** Mails the invitation of the operation's response. */
export function withMail(operation: AdminOperation): AdminOperation {
  return {
    ...operation,
    async serve(request) {
      const { caller, options, ids } = request
      const response: { email?: string; invitation?: string } = await operation.serve(request)
      const { invitation } = response
      if (invitation === undefined) return response
      const { email } = response.email
        ? response
        : ((await findObject(userCollection, request, ids.user_id)) as ViewRow<'organization_users'>)
      const mailed = (await options.accountMails?.sendInvitation(`${email}`, invitation, caller.email)) ?? false
      return { ...response, mailed }
    },
  }
}

const user = defineObject('User', 'organization.user', 'organization_users', 'user', 'There is no such user.')
const addedUser = t.Object({ ...user.schema.properties, ...invitationFields }, { $id: 'AddedUser' })
const invite = defineObject(
  'Invite',
  'organization.invite',
  'organization_invites',
  'invite',
  'There is no such invite.',
)
const addedInvite = t.Object(
  { ...invite.schema.properties, ...invitationFields, invitation: t.String() },
  { $id: 'AddedInvite' },
)

export const userCollection = defineCollection(user, {
  tag: 'Users',
  basePath: '/v1/organization/users',
  idParameter: 'user_id',
  isCheckedBySql: true,
})
/** OpenAI's invites: added users who have not set a password yet. */
const invites = defineCollection(invite, {
  tag: 'Users',
  basePath: '/v1/organization/invites',
  idParameter: 'invite_id',
  isCheckedBySql: true,
})

export const USER_OPERATIONS = [
  defineList(userCollection, 'List users', {
    query: { emails: repeatableParameter(t.String()) },
    // As fold_email(), by which addresses are stored.
    filter: ({ query }) => ({
      _email: query.emails?.map(email => email.replace(/[A-Z]+/g, part => part.toLowerCase())),
    }),
  }),
  withMail(
    defineCreate(userCollection, 'Add a user, with an invitation', {
      responseSchema: addedUser,
      body: { email: emailSchema, role: t.Optional(userRoleSchema) },
      calls: [
        'invite_new_user',
        ({ body: { email, role = 'reader' } }) => ({ email, user_role: role, of_projects: [], member_roles: [] }),
      ],
    }),
  ),
  defineRead(userCollection, 'Read a user'),
  defineUpdate(userCollection, 'Change a user’s role', {
    body: { role: userRoleSchema },
    calls: ['set_user_role', ({ ids, body }) => ({ of_user: ids.user_id, user_role: body.role })],
  }),
  withMail(
    defineOperation({
      method: 'POST',
      path: '/v1/organization/users/:user_id/invitation',
      kinds: { user_id: 'user' },
      tag: 'Users',
      summary: 'Invite a user again',
      response: objectSchema('Invitation', 'organization.user.invitation', {
        id: textSchema,
        ...invitationFields,
        invitation: textSchema,
      }),
      async serve({ caller, ids }) {
        const invitation = await callAsActor(caller.actor, 'invite_user', { of_user: ids.user_id })
        return { object: 'organization.user.invitation', id: formatId('user', ids.user_id), invitation }
      },
    }),
  ),
  defineDelete(userCollection, 'Delete a user', ['delete_user', ({ ids }) => ({ of_user: ids.user_id })]),

  defineList(invites, 'List invites: users, and whether they took theirs up'),
  withMail(
    defineCreate(invites, 'Invite a user; the response has the token', {
      responseSchema: addedInvite,
      body: {
        email: emailSchema,
        role: userRoleSchema,
        projects: t.Optional(
          t.Array(t.Object({ id: t.String(), role: memberRoleSchema }, STRICT_OBJECT), { maxItems: 100 }),
        ),
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
  ),
  defineRead(invites, 'Read an invite'),
  defineDelete(invites, 'Take back an invite, with the user', [
    'delete_invite',
    ({ ids }) => ({ of_user: ids.invite_id }),
  ]),
]
