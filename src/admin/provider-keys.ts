/** A project's own keys for direct providers. They are sealed before they reach the database, and never shown again. */
import { t } from 'elysia'
import { listProviderKeys, removeProviderKey, storeProviderKeyAs } from '../postgres/admin/projects.ts'
import { DIRECT_PROVIDERS } from '../providers/model-router.ts'
import { type AdminOptions, createController } from './controller.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { toSeconds } from './pages.ts'
import { findProject } from './projects.ts'
import { strict } from './stated.ts'

/** For a shorter key, showing four characters would reveal too much. */
const MIN_LENGTH_TO_SHOW = 12

export function createProviderKeysController(options: AdminOptions) {
  const { vault } = options

  return createController(options, '/v1/organization/projects')
    .get('/:project_id/provider_keys', async ({ caller, params }) => {
      const { id } = await findProject(caller.actor, params.project_id)
      const rows = await listProviderKeys(caller.actor, { project: id })
      const data = rows.map(row => ({
        object: 'project.provider_key' as const,
        provider: row.provider,
        redacted_value: `…${row.last_four}`,
        created_at: toSeconds(row.created),
        updated_at: toSeconds(row.updated),
      }))
      return { object: 'list' as const, data, providers: DIRECT_PROVIDERS, has_more: false }
    })
    .post(
      '/:project_id/provider_keys/:provider',
      async ({ caller, params, body: { value } }) => {
        const provider = requireProvider(params.provider)
        const { id } = await findProject(caller.actor, params.project_id)
        const sealed = await vault.seal(value, { projectId: id, provider })
        const lastFour = value.length < MIN_LENGTH_TO_SHOW ? '****' : value.slice(-4)
        await storeProviderKeyAs(caller.actor, {
          owner_id: id,
          provider,
          sealed: `\\x${Buffer.from(sealed).toString('hex')}`,
          last_four: lastFour,
        })
        return { object: 'project.provider_key' as const, provider, redacted_value: `…${lastFour}` }
      },
      // One word of printable ASCII, as in set-provider-key.sh.
      { body: t.Object({ value: t.String({ pattern: '^[!-~]{1,1024}$' }) }, strict) },
    )
    .delete('/:project_id/provider_keys/:provider', async ({ caller, params }) => {
      const project = requireId('proj', params.project_id)
      const provider = requireProvider(params.provider)
      await removeProviderKey(caller.actor, { project, provider })
      return { object: 'project.provider_key.deleted' as const, id: formatId('proj', project), provider, deleted: true }
    })
}

function requireProvider(name: string): string {
  if (DIRECT_PROVIDERS.some(known => known === name)) return name
  throw notFound(`There is no such provider; providers are: ${DIRECT_PROVIDERS.join(', ')}.`)
}
