/** OpenAI's service accounts, with which its clients make keys: each stands for one API key, which it makes and takes away. */
import { t } from 'elysia'
import type { KeyRow } from '../postgres/admin/key-rows.ts'
import { deactivateKeyWithId, pageOfKeys } from '../postgres/admin/projects.ts'
import { addedServiceAccount, serviceAccount } from './answers/projects.ts'
import { deleted, pagesOf, text } from './answers/shared.ts'
import { type AdminOptions, createController } from './controller.ts'
import { keyName, lifetimeSeconds, strict } from './field-types.ts'
import { formatId, requireId } from './ids.ts'
import { operation } from './operation.ts'
import { pageQueryOf, pageSize, readCursor, toPage, toSeconds } from './pages.ts'
import { findKey, makeKey } from './project-keys.ts'
import { findProject } from './projects.ts'

export function createServiceAccountsController(options: AdminOptions) {
  return createController(options, '/v1/organization/projects', 'API keys')
    .get(
      '/:project_id/service_accounts',
      async ({ caller, params, query: { after, limit } }) => {
        const { id } = await findProject(caller.actor, params.project_id)
        const rows = await pageOfKeys(caller.actor, {
          of_project: id,
          include_inactive: false,
          after_id: readCursor('svc_acct', after),
          page_size: pageSize(limit),
        })
        return toPage(rows.map(describeAccount), limit)
      },
      operation('List a project’s service accounts: its keys', pagesOf(serviceAccount), {
        query: t.Object(pageQueryOf('svc_acct'), strict),
      }),
    )
    .post(
      '/:project_id/service_accounts',
      async ({ caller, params, body: { name, expires_in_seconds } }) => {
        const project = requireId('proj', params.project_id)
        const { row, value } = await makeKey(caller.actor, project, { name, type: 'project', expires_in_seconds })
        const key = {
          object: 'organization.project.service_account.api_key' as const,
          id: formatId('key', row.id),
          name,
          value,
          created_at: toSeconds(row.created_at),
          expires_at: toSeconds(row.expires_at),
        }
        return { ...describeAccount(row), api_key: key }
      },
      operation('Make a service account, with its API key', addedServiceAccount, {
        body: t.Object({ name: keyName, expires_in_seconds: lifetimeSeconds }, strict),
      }),
    )
    .get(
      '/:project_id/service_accounts/:service_account_id',
      async ({ caller, params }) => {
        const key = requireId('svc_acct', params.service_account_id)
        return describeAccount(await findKey(caller.actor, requireId('proj', params.project_id), key, false))
      },
      operation('Read a service account', serviceAccount),
    )
    .delete(
      '/:project_id/service_accounts/:service_account_id',
      async ({ caller, params }) => {
        const key = requireId('svc_acct', params.service_account_id)
        const { id } = await findKey(caller.actor, requireId('proj', params.project_id), key, false)
        await deactivateKeyWithId(caller.actor, { key_id: id })
        const object = 'organization.project.service_account.deleted' as const
        return { object, id: formatId('svc_acct', id), deleted: true }
      },
      operation(
        'Delete a service account: its key is deactivated',
        deleted('organization.project.service_account', { id: text }),
      ),
    )
}

function describeAccount(row: KeyRow) {
  return {
    object: 'organization.project.service_account' as const,
    id: formatId('svc_acct', row.id),
    name: row.name,
    role: 'member' as const,
    created_at: toSeconds(row.created_at),
  }
}
