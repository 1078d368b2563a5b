/** A project's own keys for direct providers. They are sealed before they reach the database, and never shown again. */
import { t } from 'elysia'
import { listProviderKeys, removeProviderKey, storeProviderKeyAs } from '../postgres/admin/projects.ts'
import { DEFAULT_KEY } from '../postgres/kept-objects.ts'
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
      const rows = await listProviderKeys(caller.actor, { project: id, of_provider: null })
      const data = rows.map(row => ({
        object: 'project.provider_key' as const,
        provider: row.provider,
        name: row.name,
        weight: row.weight,
        redacted_value: `…${row.last_four}`,
        created_at: toSeconds(row.created),
        updated_at: toSeconds(row.updated),
      }))
      return { object: 'list' as const, data, providers: DIRECT_PROVIDERS, has_more: false }
    })
    .post(
      '/:project_id/provider_keys/:provider',
      async ({ caller, params, body: { value, name = DEFAULT_KEY, weight = null } }) => {
        const provider = requireProvider(params.provider)
        const { id } = await findProject(caller.actor, params.project_id)
        const sealed = await vault.seal(value, { projectId: id, provider })
        const lastFour = value.length < MIN_LENGTH_TO_SHOW ? '****' : value.slice(-4)
        await storeProviderKeyAs(caller.actor, {
          owner_id: id,
          provider,
          sealed: `\\x${Buffer.from(sealed).toString('hex')}`,
          last_four: lastFour,
          name,
          weight,
        })
        return { object: 'project.provider_key' as const, provider, name, redacted_value: `…${lastFour}` }
      },
      // One word of printable ASCII, as in set-provider-key.sh.
      {
        body: t.Object(
          {
            value: t.String({ pattern: '^[!-~]{1,1024}$' }),
            name: t.Optional(t.String({ minLength: 1, maxLength: 63 })),
            weight: t.Optional(t.Integer({ minimum: 1, maximum: 1000 })),
          },
          strict,
        ),
      },
    )
    .delete(
      '/:project_id/provider_keys/:provider',
      async ({ caller, params, query: { name = DEFAULT_KEY } }) => {
        const project = requireId('proj', params.project_id)
        const provider = requireProvider(params.provider)
        await removeProviderKey(caller.actor, { project, provider, name })
        const id = formatId('proj', project)
        return { object: 'project.provider_key.deleted' as const, id, provider, name, deleted: true }
      },
      { query: t.Object({ name: t.Optional(t.String({ minLength: 1, maxLength: 63 })) }, strict) },
    )
}

function requireProvider(name: string): string {
  if (DIRECT_PROVIDERS.some(known => known === name)) return name
  throw notFound(`There is no such provider; providers are: ${DIRECT_PROVIDERS.join(', ')}.`)
}
