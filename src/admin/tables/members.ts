/** A project's members, in OpenAI's form. `viewer` is a role beside OpenAI's `owner` and `member`. */
import { t } from 'elysia'
import { invalidRequest } from '../../errors/errors.ts'
import { callAs } from '../../postgres/admin/call-as.ts'
import { memberRole } from '../field-types.ts'
import { find } from '../find-objects.ts'
import { requireId } from '../ids.ts'
import { object } from '../objects.ts'
import { change, collection, list, read, remove } from '../operations.ts'
import { serveBy } from '../table-row.ts'
import { invitation, users } from './users.ts'

const member = object(
  'Member',
  'organization.project.user',
  'project_users',
  'user',
  'There is no such member of this project.',
)
const addedMember = t.Object(
  { ...member.schema.properties, invitation: t.Optional(invitation) },
  { $id: 'AddedMember' },
)

const members = collection(member, {
  tag: 'Members',
  base: '/v1/organization/projects/:project_id/users',
  own: 'user_id',
  functionsRefuse: true,
})

export const MEMBERS = [
  list(members, 'List a project’s members'),
  serveBy({
    method: 'POST',
    path: members.base,
    tag: 'Members',
    summary: 'Add a member; somebody without an account gets an invitation',
    answer: addedMember,
    body: { role: memberRole, email: t.Optional(t.String()), user_id: t.Optional(t.String()) },
    async serve(asked) {
      const { actor } = asked.caller
      const { role, email, user_id } = asked.body
      const given = { project: asked.ids.project_id, member_role: role }
      if ((email === undefined) === (user_id === undefined)) {
        throw invalidRequest('Give either email or user_id.', 'email')
      }
      if (email === undefined) {
        const of_user = requireId('user', user_id ?? '')
        await find(users, asked, of_user)
        await callAs(actor, 'add_membership', { ...given, of_user })
        return find(members, asked, of_user)
      }
      const [added] = await callAs(actor, 'add_member', { ...given, member_email: email })
      const found = await find(members, asked, added?.id ?? 0)
      return added?.invitation ? { ...found, invitation: added.invitation } : found
    },
  }),
  read(members, 'Read a member'),
  change(members, 'Change a member’s role', {
    body: { role: memberRole },
    calls: [
      'set_member',
      ({ ids, body }) => ({ project: ids.project_id, of_user: ids.user_id, member_role: body.role }),
    ],
  }),
  remove(members, 'Remove a member', [
    'remove_member',
    ({ ids }) => ({ project: ids.project_id, of_user: ids.user_id }),
  ]),
]
