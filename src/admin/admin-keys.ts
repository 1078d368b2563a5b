/** Admin API keys, in OpenAI's form. Each acts with the rights of the administrator who created it. */
import { t } from 'elysia'
import { nowSeconds } from '../event-loop/clock.ts'
import type { Actor } from '../postgres/admin/act-as.ts'
import { type AdminKeyRow, deleteAdminKey, issueAdminKey, pageOfAdminKeys } from '../postgres/admin/users.ts'
import { deleted, pagesOf, text } from './answers/shared.ts'
import { adminKey, issuedAdminKey } from './answers/users.ts'
import { type AdminOptions, createController } from './controller.ts'
import { keyName, lifetimeSeconds, strict } from './field-types.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { operation } from './operation.ts'
import { fromSeconds, oneOf, pageQueryOf, pageSize, readCursor, toPage, toSeconds } from './pages.ts'

export function createAdminKeysController(options: AdminOptions) {
  return createController(options, '/v1/organization/admin_api_keys', 'Admin keys')
    .get(
      '',
      async ({ caller, query: { after, limit, order } }) => {
        const rows = await pageOfAdminKeys(caller.actor, {
          newest_first: order === 'desc',
          after_id: readCursor('admin_key', after),
          page_size: pageSize(limit),
        })
        return toPage(rows.map(describeAdminKey), limit)
      },
      operation('List admin keys', pagesOf(adminKey), {
        query: t.Object({ ...pageQueryOf('admin_key'), order: t.Optional(oneOf('asc', 'desc')) }, strict),
      }),
    )
    .post(
      '',
      async ({ caller, body: { name, expires_in_seconds } }) => {
        const expires = expires_in_seconds === undefined ? null : fromSeconds(nowSeconds() + expires_in_seconds)
        const [issued] = await issueAdminKey(caller.actor, {
          of_email: caller.email,
          key_name: name,
          expires,
        })
        const row = await findAdminKey(caller.actor, issued?.id ?? 0)
        return { ...describeAdminKey(row), value: issued?.key ?? '' }
      },
      operation('Make an admin key, which acts with its maker’s rights', issuedAdminKey, {
        body: t.Object({ name: keyName, expires_in_seconds: lifetimeSeconds }, strict),
      }),
    )
    .get(
      '/:key_id',
      async ({ caller, params }) =>
        describeAdminKey(await findAdminKey(caller.actor, requireId('admin_key', params.key_id))),
      operation('Read an admin key', adminKey),
    )
    .delete(
      '/:key_id',
      async ({ caller, params }) => {
        const id = requireId('admin_key', params.key_id)
        await deleteAdminKey(caller.actor, { key_id: id })
        return { object: 'organization.admin_api_key.deleted' as const, id: formatId('admin_key', id), deleted: true }
      },
      operation('Delete an admin key', deleted('organization.admin_api_key', { id: text })),
    )
}

async function findAdminKey(actor: Actor, key: number): Promise<AdminKeyRow> {
  const [row] = await pageOfAdminKeys(actor, { only_key: key, newest_first: false, page_size: 1 })
  if (row === undefined) throw notFound('There is no such admin API key.')
  return row
}

function describeAdminKey(row: AdminKeyRow) {
  return {
    id: formatId('admin_key', row.id),
    object: 'organization.admin_api_key' as const,
    name: row.name,
    redacted_value: `${row.prefix}…`,
    created_at: toSeconds(row.created_at),
    expires_at: toSeconds(row.expires_at),
    last_used_at: toSeconds(row.last_used_at),
    owner: {
      type: 'user' as const,
      object: 'organization.user' as const,
      id: formatId('user', row.user_id),
      name: row.email,
      created_at: toSeconds(row.created_at),
      role: row.role,
    },
  }
}
