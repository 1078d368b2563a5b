/** A project's members, in OpenAI's form. `viewer` is a role beside OpenAI's `owner` and `member`. */
import { Type as t } from '@sinclair/typebox'
import { invalidRequestError } from '../../errors/errors.ts'
import { callAsActor } from '../../postgres/admin/call-as.ts'
import { defineOperation } from '../admin-operation.ts'
import { defineCollection, defineDelete, defineList, defineRead, defineUpdate } from '../define-operations.ts'
import { memberRoleSchema } from '../field-types.ts'
import { findObject } from '../find-objects.ts'
import { requireId } from '../ids.ts'
import { defineObject } from '../objects.ts'
import { invitationFields, userCollection, withMail } from './users.ts'

const member = defineObject(
  'Member',
  'organization.project.user',
  'project_users',
  'user',
  'There is no such member of this project.',
)
const addedMember = t.Object({ ...member.schema.properties, ...invitationFields }, { $id: 'AddedMember' })

const members = defineCollection(member, {
  tag: 'Members',
  basePath: '/v1/organization/projects/:project_id/users',
  idParameter: 'user_id',
  isCheckedBySql: true,
})

export const MEMBER_OPERATIONS = [
  defineList(members, 'List a project’s members'),
  withMail(
    defineOperation({
      method: 'POST',
      path: members.basePath,
      tag: 'Members',
      summary: 'Add a member; a person without an account gets an invitation',
      response: addedMember,
      body: { role: memberRoleSchema, email: t.Optional(t.String()), user_id: t.Optional(t.String()) },
      async serve(asked) {
        const { actor } = asked.caller
        const { role, email, user_id } = asked.body
        const given = { project: asked.ids.project_id, member_role: role }
        if ((email === undefined) === (user_id === undefined)) {
          throw invalidRequestError('Give either email or user_id.', 'email')
        }
        if (email === undefined) {
          const of_user = requireId('user', user_id ?? '')
          await findObject(userCollection, asked, of_user)
          await callAsActor(actor, 'add_membership', { ...given, of_user })
          return findObject(members, asked, of_user)
        }
        const [added] = await callAsActor(actor, 'add_member', { ...given, member_email: email })
        const found = await findObject(members, asked, added?.id ?? 0)
        return added?.invitation ? { ...found, invitation: added.invitation } : found
      },
    }),
  ),
  defineRead(members, 'Read a member'),
  defineUpdate(members, 'Change a member’s role', {
    body: { role: memberRoleSchema },
    calls: [
      'set_member',
      ({ ids, body }) => ({ project: ids.project_id, of_user: ids.user_id, member_role: body.role }),
    ],
  }),
  defineDelete(members, 'Remove a member', [
    'remove_member',
    ({ ids }) => ({ project: ids.project_id, of_user: ids.user_id }),
  ]),
]
