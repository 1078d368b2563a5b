/** A project's API keys. They are listed, read and deleted as in OpenAI's API; creating them is an addition. */
import { t } from 'elysia'
import { nowSeconds } from '../event-loop/clock.ts'
import type { Actor } from '../postgres/admin/act-as.ts'
import { deactivateKeyWithId, findKeyId, issueKeyAs, pageOfKeys } from '../postgres/admin/projects.ts'
import type { KeyRow } from '../postgres/admin/rows.ts'
import { type AdminOptions, createController } from './controller.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { fromSeconds, oneOf, pageQueryOf, pageSize, readCursor, toPage, toSeconds } from './pages.ts'
import { findProject } from './projects.ts'
import { keyName, lifetimeSeconds, strict } from './stated.ts'

export function createProjectKeysController(options: AdminOptions) {
  return createController(options, '/v1/organization/projects')
    .get(
      '/:project_id/api_keys',
      async ({ caller, params, query: { after, limit, include_inactive } }) => {
        const { id } = await findProject(caller.actor, params.project_id)
        const rows = await pageOfKeys(caller.actor, {
          of_project: id,
          include_inactive: include_inactive ?? false,
          after_id: readCursor('key', after),
          page_size: pageSize(limit),
        })
        return toPage(
          rows.map(row => describeKey(row, id)),
          limit,
        )
      },
      { query: t.Object({ ...pageQueryOf('key'), include_inactive: t.Optional(t.Boolean()) }, strict) },
    )
    .post(
      '/:project_id/api_keys',
      async ({ caller, params, body: { name, type, expires_in_seconds } }) => {
        const project = requireId('proj', params.project_id)
        const expires = expires_in_seconds === undefined ? null : fromSeconds(nowSeconds() + expires_in_seconds)
        const [issued] = await issueKeyAs(caller.actor, {
          project,
          key_type: type ?? 'project',
          key_name: name,
          expires,
        })
        const value = issued?.result ?? ''
        const [found] = await findKeyId(caller.actor, { key: value })
        return { ...describeKey(await findKey(caller.actor, project, found?.result ?? 0), project), value }
      },
      {
        body: t.Object(
          {
            name: keyName,
            type: t.Optional(oneOf('project', 'test')),
            expires_in_seconds: lifetimeSeconds,
          },
          strict,
        ),
      },
    )
    .get('/:project_id/api_keys/:key_id', async ({ caller, params }) => {
      const project = requireId('proj', params.project_id)
      return describeKey(await findKey(caller.actor, project, requireId('key', params.key_id)), project)
    })
    .delete('/:project_id/api_keys/:key_id', async ({ caller, params }) => {
      const project = requireId('proj', params.project_id)
      const { id } = await findKey(caller.actor, project, requireId('key', params.key_id))
      await deactivateKeyWithId(caller.actor, { key_id: id })
      return { object: 'organization.project.api_key.deleted' as const, id: formatId('key', id), deleted: true }
    })
}

/** Throws a 404 when the project does not have the key, or the caller may not see the project. */
async function findKey(actor: Actor, project: number, key: number): Promise<KeyRow> {
  const [row] = await pageOfKeys(actor, {
    of_project: project,
    only_key: key,
    include_inactive: true,
    page_size: 1,
  })
  if (row === undefined) throw notFound('There is no such key in this project.')
  return row
}

function describeKey(row: KeyRow, project: number) {
  return {
    id: formatId('key', row.id),
    object: 'organization.project.api_key' as const,
    name: row.name,
    redacted_value: `${row.prefix}…`,
    created_at: toSeconds(row.created_at),
    last_used_at: toSeconds(row.last_used_at),
    expires_at: toSeconds(row.expires_at),
    // A key belongs to the project, not to a user.
    owner: {
      type: 'service_account' as const,
      service_account: {
        id: formatId('proj', project),
        created_at: toSeconds(row.created_at),
        name: row.name,
        role: 'member',
      },
    },
    owner_project_access: row.state === 'active' ? ('active' as const) : ('inactive' as const),
    type: row.type,
    state: row.state,
    deactivated_at: toSeconds(row.deactivated_at),
  }
}
