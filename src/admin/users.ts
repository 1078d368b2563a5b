/** The installation's users: administrators (`owner`) and others (`reader`). */
import { t } from 'elysia'
import type { Actor } from '../postgres/admin/act-as.ts'
import {
  deleteUser,
  inviteNewUser,
  inviteUser,
  pageOfUsers,
  setUserRole,
  type UserRow,
} from '../postgres/admin/users.ts'
import { deleted, pagesOf, text } from './answers/shared.ts'
import { addedUser, invitation, user } from './answers/users.ts'
import { type AdminOptions, createController } from './controller.ts'
import { email, strict, userRole } from './field-types.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { readLogins } from './logins.ts'
import { operation } from './operation.ts'
import { pageQueryOf, pageSize, readCursor, several, toPage, toSeconds } from './pages.ts'

export function createUsersController(options: AdminOptions) {
  return createController(options, '/v1/organization/users', 'Users')
    .get(
      '',
      async ({ caller, query: { after, limit, emails } }) => {
        const rows = await pageOfUsers(caller.actor, {
          of_emails: emails?.map(email => email.toLowerCase()),
          after_id: readCursor('user', after),
          page_size: pageSize(limit),
        })
        return toPage(await describeUsers(caller.actor, rows), limit)
      },
      operation('List users', pagesOf(user), {
        query: t.Object({ ...pageQueryOf('user'), emails: several(t.String()) }, strict),
      }),
    )
    .post(
      '',
      async ({ caller, body }) => {
        const { email: address, role = 'reader' } = body
        const [invited] = await inviteNewUser(caller.actor, {
          email: address,
          user_role: role,
          of_projects: [],
          member_roles: [],
        })
        return { ...(await findUser(caller.actor, invited?.user_id ?? 0)), invitation: invited?.invitation ?? '' }
      },
      operation('Add a user, with an invitation', addedUser, {
        body: t.Object({ email, role: t.Optional(userRole) }, strict),
      }),
    )
    .get(
      '/:user_id',
      ({ caller, params }) => findUser(caller.actor, requireId('user', params.user_id)),
      operation('Read a user', user),
    )
    .post(
      '/:user_id',
      async ({ caller, params, body: { role } }) => {
        const id = requireId('user', params.user_id)
        await setUserRole(caller.actor, { of_user: id, user_role: role })
        return findUser(caller.actor, id)
      },
      operation('Change a user’s role', user, { body: t.Object({ role: userRole }, strict) }),
    )
    .post(
      '/:user_id/invitation',
      async ({ caller, params }) => {
        const id = requireId('user', params.user_id)
        const [invited] = await inviteUser(caller.actor, { of_user: id })
        return {
          object: 'organization.user.invitation' as const,
          id: formatId('user', id),
          invitation: invited?.result ?? '',
        }
      },
      operation('Invite a user again', invitation),
    )
    .delete(
      '/:user_id',
      async ({ caller, params }) => {
        const id = requireId('user', params.user_id)
        await deleteUser(caller.actor, { of_user: id })
        return { object: 'organization.user.deleted' as const, id: formatId('user', id), deleted: true }
      },
      operation('Delete a user', deleted('organization.user', { id: text })),
    )
}

async function findUser(actor: Actor, id: number) {
  const rows = await pageOfUsers(actor, { only_user: id, page_size: 1 })
  const [found] = await describeUsers(actor, rows)
  if (found === undefined) throw notFound('There is no such user.')
  return found
}

async function describeUsers(actor: Actor, rows: readonly UserRow[]) {
  const loginOf = await readLogins(
    actor,
    rows.map(({ id }) => id),
  )
  return rows.map(row => ({
    id: formatId('user', row.id),
    object: 'organization.user' as const,
    email: row.email,
    name: row.email,
    role: row.role,
    added_at: toSeconds(row.created_at),
    ...loginOf(row.id),
  }))
}
