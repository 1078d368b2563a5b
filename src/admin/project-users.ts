/** A project's members, in OpenAI's form. `viewer` is a role beside OpenAI's `owner` and `member`. */
import { t } from 'elysia'
import { invalidRequest } from '../errors/errors.ts'
import type { Actor } from '../postgres/admin/act-as.ts'
import {
  addMember,
  addMembership,
  type MemberRow,
  pageOfMembers,
  pageOfUsers,
  removeMember,
  setMember,
} from '../postgres/admin/users.ts'
import { deleted, pagesOf, text } from './answers/shared.ts'
import { addedMember, member } from './answers/users.ts'
import { type AdminOptions, createController } from './controller.ts'
import { strict, textOf } from './field-types.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { readLogins } from './logins.ts'
import { operation } from './operation.ts'
import { pageQueryOf, pageSize, readCursor, toPage, toSeconds } from './pages.ts'
import { findProject } from './projects.ts'

export const memberRole = textOf({ enum: ['owner', 'member', 'viewer'] })

export function createProjectUsersController(options: AdminOptions) {
  return createController(options, '/v1/organization/projects', 'Members')
    .get(
      '/:project_id/users',
      async ({ caller, params, query: { after, limit } }) => {
        const { id } = await findProject(caller.actor, params.project_id)
        const rows = await pageOfMembers(caller.actor, {
          of_project: id,
          after_id: readCursor('user', after),
          page_size: pageSize(limit),
        })
        return toPage(await describeMembers(caller.actor, rows), limit)
      },
      operation('List a project’s members', pagesOf(member), { query: t.Object(pageQueryOf('user'), strict) }),
    )
    .post(
      '/:project_id/users',
      async ({ caller, params, body: { role: given, email, user_id } }) => {
        const project = requireId('proj', params.project_id)
        if ((email === undefined) === (user_id === undefined)) {
          throw invalidRequest('Give either email or user_id.', 'email')
        }
        if (email !== undefined) return inviteMember(caller.actor, project, { email, role: given })
        const user = await requireVisibleUser(caller.actor, user_id ?? '')
        await addMembership(caller.actor, { project, of_user: user, member_role: given })
        return findMember(caller.actor, project, user)
      },
      operation('Add a member; somebody without an account gets an invitation', addedMember, {
        body: t.Object({ role: memberRole, email: t.Optional(t.String()), user_id: t.Optional(t.String()) }, strict),
      }),
    )
    .get(
      '/:project_id/users/:user_id',
      ({ caller, params }) =>
        findMember(caller.actor, requireId('proj', params.project_id), requireId('user', params.user_id)),
      operation('Read a member', member),
    )
    .post(
      '/:project_id/users/:user_id',
      async ({ caller, params, body }) => {
        const project = requireId('proj', params.project_id)
        const user = requireId('user', params.user_id)
        await setMember(caller.actor, { project, of_user: user, member_role: body.role })
        return findMember(caller.actor, project, user)
      },
      operation('Change a member’s role', member, { body: t.Object({ role: memberRole }, strict) }),
    )
    .delete(
      '/:project_id/users/:user_id',
      async ({ caller, params }) => {
        const project = requireId('proj', params.project_id)
        const user = requireId('user', params.user_id)
        await removeMember(caller.actor, { project, of_user: user })
        return { object: 'organization.project.user.deleted' as const, id: formatId('user', user), deleted: true }
      },
      operation('Remove a member', deleted('organization.project.user', { id: text })),
    )
}

/** Somebody without an account gets an invitation. */
async function inviteMember(actor: Actor, project: number, { email, role }: { email: string; role: string }) {
  const [added] = await addMember(actor, { project, member_email: email, member_role: role })
  const found = await findMember(actor, project, added?.user_id ?? 0)
  return added?.invitation ? { ...found, invitation: added.invitation } : found
}

async function requireVisibleUser(actor: Actor, userId: string): Promise<number> {
  const [user] = await pageOfUsers(actor, { only_user: requireId('user', userId), page_size: 1 })
  if (user === undefined) throw notFound('There is no such user.')
  return user.id
}

async function findMember(actor: Actor, project: number, user: number) {
  const rows = await pageOfMembers(actor, { of_project: project, only_user: user, page_size: 1 })
  const [found] = await describeMembers(actor, rows)
  if (found === undefined) throw notFound('There is no such member of this project.')
  return found
}

async function describeMembers(actor: Actor, rows: readonly MemberRow[]) {
  const loginOf = await readLogins(
    actor,
    rows.map(row => row.user_id),
  )
  return rows.map(row => ({
    id: formatId('user', row.user_id),
    object: 'organization.project.user' as const,
    email: row.email,
    name: row.email,
    role: row.role,
    added_at: toSeconds(row.created_at),
    ...loginOf(row.user_id),
  }))
}
