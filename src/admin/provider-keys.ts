/** A project's own keys for direct providers. They are sealed before they reach the database, and never shown again. */
import { t } from 'elysia'
import type { ProviderKeyRow } from '../postgres/admin/key-rows.ts'
import { listProviderKeys, removeProviderKey, storeProviderKeyAs } from '../postgres/admin/projects.ts'
import { DEFAULT_KEY } from '../postgres/kept-objects.ts'
import { DIRECT_PROVIDERS } from '../providers/model-router.ts'
import { providerKey, providerKeys } from './answers/projects.ts'
import { deleted, text } from './answers/shared.ts'
import { type AdminOptions, createController } from './controller.ts'
import { strict } from './field-types.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { operation } from './operation.ts'
import { toSeconds } from './pages.ts'
import { findProject } from './projects.ts'

/** For a shorter key, showing four characters would reveal too much. */
const MIN_LENGTH_TO_SHOW = 12

export function createProviderKeysController(options: AdminOptions) {
  const { vault } = options

  return createController(options, '/v1/organization/projects', 'Provider keys')
    .get(
      '/:project_id/provider_keys',
      async ({ caller, params }) => {
        const { id } = await findProject(caller.actor, params.project_id)
        const rows = await listProviderKeys(caller.actor, { project: id, of_provider: null })
        const data = rows.map(describeProviderKey)
        return { object: 'list' as const, data, providers: [...DIRECT_PROVIDERS], has_more: false }
      },
      operation('List a project’s keys for providers', providerKeys),
    )
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
        const stored = await listProviderKeys(caller.actor, { project: id, of_provider: provider })
        const found = stored.find(row => row.name === name)
        if (found === undefined) throw notFound('There is no such key of a provider in this project.')
        return describeProviderKey(found)
      },
      // One word of printable ASCII, as in set-provider-key.sh.
      operation('Store a provider key, in place of the one of this name', providerKey, {
        body: t.Object(
          {
            value: t.String({ pattern: '^[!-~]{1,1024}$' }),
            name: t.Optional(t.String({ minLength: 1, maxLength: 63 })),
            weight: t.Optional(t.Integer({ minimum: 1, maximum: 1000 })),
          },
          strict,
        ),
      }),
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
      operation('Remove a provider key', deleted('project.provider_key', { id: text, provider: text, name: text }), {
        query: t.Object({ name: t.Optional(t.String({ minLength: 1, maxLength: 63 })) }, strict),
      }),
    )
}

function describeProviderKey({ provider, name, weight, last_four, created, updated }: ProviderKeyRow) {
  return {
    object: 'project.provider_key' as const,
    provider,
    name,
    weight,
    redacted_value: `…${last_four}`,
    created_at: toSeconds(created),
    updated_at: toSeconds(updated),
  }
}

function requireProvider(name: string): string {
  if (DIRECT_PROVIDERS.some(known => known === name)) return name
  throw notFound(`There is no such provider; providers are: ${DIRECT_PROVIDERS.join(', ')}.`)
}
