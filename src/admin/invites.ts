/** OpenAI's invites: users who were added to set a password. Its token comes with the answer that makes it, as no mail is sent. */
import { t } from 'elysia'
import { refuse } from '../errors/errors.ts'
import { nowSeconds } from '../event-loop/clock.ts'
import type { Actor } from '../postgres/admin/act-as.ts'
import {
  deleteUser,
  inviteNewUser,
  membershipsOf,
  pageOfUsers,
  requireAdministrator,
  type UserRow,
} from '../postgres/admin/users.ts'
import { deleted, pagesOf, text } from './answers/shared.ts'
import { addedInvite, invite } from './answers/users.ts'
import { type AdminOptions, createController } from './controller.ts'
import { email, strict, userRole } from './field-types.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { readLogins } from './logins.ts'
import { operation } from './operation.ts'
import { pageQueryOf, pageSize, readCursor, toPage, toSeconds } from './pages.ts'
import { memberRole } from './project-users.ts'

export function createInvitesController(options: AdminOptions) {
  return createController(options, '/v1/organization/invites', 'Users')
    .get(
      '',
      async ({ caller, query: { after, limit } }) => {
        const rows = await pageOfUsers(caller.actor, {
          after_id: readCursor('invite', after),
          page_size: pageSize(limit),
        })
        return toPage(await describeInvites(caller.actor, rows), limit)
      },
      operation('List invites: users, and whether they took theirs up', pagesOf(invite), {
        query: t.Object(pageQueryOf('invite'), strict),
      }),
    )
    .post(
      '',
      async ({ caller: { actor }, body: { email: address, role, projects = [] } }) => {
        const [invited] = await inviteNewUser(actor, {
          email: address,
          user_role: role,
          of_projects: projects.map(({ id }) => requireId('proj', id)),
          member_roles: projects.map(({ role }) => role),
        })
        return { ...(await findInvite(actor, invited?.user_id ?? 0)), invitation: invited?.invitation ?? '' }
      },
      operation('Invite somebody; the answer has the token to pass on', addedInvite, {
        body: t.Object(
          {
            email,
            role: userRole,
            projects: t.Optional(t.Array(t.Object({ id: t.String(), role: memberRole }, strict), { maxItems: 100 })),
          },
          strict,
        ),
      }),
    )
    .get(
      '/:invite_id',
      ({ caller, params }) => findInvite(caller.actor, requireId('invite', params.invite_id)),
      operation('Read an invite', invite),
    )
    .delete(
      '/:invite_id',
      async ({ caller, params }) => {
        const user = requireId('invite', params.invite_id)
        await requireAdministrator(caller.actor, {})
        const { id, status } = await findInvite(caller.actor, user)
        const problem = `This invite was taken up: DELETE /v1/organization/users/${formatId('user', user)} deletes the user.`
        if (status === 'accepted') throw refuse('notPossible', { problem })
        await deleteUser(caller.actor, { of_user: user })
        return { object: 'organization.invite.deleted' as const, id, deleted: true }
      },
      operation('Take back an invite, with the user', deleted('organization.invite', { id: text })),
    )
}

async function findInvite(actor: Actor, user: number) {
  const [found] = await describeInvites(actor, await pageOfUsers(actor, { only_user: user, page_size: 1 }))
  if (found === undefined) throw notFound('There is no such invite.')
  return found
}

async function describeInvites(actor: Actor, rows: readonly UserRow[]) {
  const ids = rows.map(({ id }) => id)
  const [loginOf, memberships] = await Promise.all([readLogins(actor, ids), membershipsOf(actor, { of_users: ids })])
  return rows.map(({ id, email, role, created_at }) => {
    const { can_log_in: canLogIn, invited_until: until } = loginOf(id)
    const isPending = until !== null && until > nowSeconds()
    return {
      object: 'organization.invite' as const,
      id: formatId('invite', id),
      email,
      role,
      status: canLogIn ? ('accepted' as const) : isPending ? ('pending' as const) : ('expired' as const),
      created_at: toSeconds(created_at),
      expires_at: until,
      projects: memberships
        .filter(({ user_id }) => user_id === id)
        .map(({ project_id, role }) => ({ id: formatId('proj', project_id), role })),
    }
  })
}
