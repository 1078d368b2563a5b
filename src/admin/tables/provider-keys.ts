/** A project's own keys for direct providers, which are sealed before they reach the database and never shown again; and which models it may use. */
import { t } from 'elysia'
import { invalidRequest } from '../../errors/errors.ts'
import { callAs } from '../../postgres/admin/call-as.ts'
import { DEFAULT_KEY } from '../../postgres/kept-objects.ts'
import { DIRECT_PROVIDERS } from '../../providers/model-router.ts'
import { deleted, listOf, text } from '../answers/shared.ts'
import { filterOf, readVisible, requireProject } from '../find-objects.ts'
import { formatId, notFound } from '../ids.ts'
import { NO_PROJECT, noneHere, object } from '../objects.ts'
import { change, collection, read, remove } from '../operations.ts'
import { oneOf } from '../pages.ts'
import { serveBy } from '../table-row.ts'

const providerKey = object(
  'ProviderKey',
  'project.provider_key',
  'project_provider_keys',
  null,
  noneHere('key of a provider'),
)
const modelPermissions = object(
  'ModelPermissions',
  'project.model_permissions',
  'project_model_permissions',
  null,
  NO_PROJECT,
)

const tag = 'Provider keys'
const keys = collection(providerKey, {
  tag,
  base: '/v1/organization/projects/:project_id/provider_keys',
  own: 'provider',
})
const permissions = collection(modelPermissions, {
  tag: 'Projects',
  base: '/v1/organization/projects/:project_id/model_permissions',
  own: '',
})

/** For a shorter key, showing four characters would reveal too much. */
const MIN_LENGTH_TO_SHOW = 12
const keyName = t.Optional(t.String({ minLength: 1, maxLength: 63 }))

function requireProvider(name: unknown): string {
  const found = DIRECT_PROVIDERS.find(known => known === name)
  if (found !== undefined) return found
  throw notFound(`There is no such provider; providers are: ${DIRECT_PROVIDERS.join(', ')}.`)
}

export const PROVIDER_KEYS = [
  serveBy({
    method: 'GET',
    path: keys.base,
    tag,
    summary: 'List a project’s keys for providers',
    answer: t.Object({
      ...listOf(providerKey.schema).properties,
      providers: t.Array(text, { description: 'Those that a project may have keys of.' }),
    }),
    async serve(asked) {
      const data = await readVisible(keys, asked, filterOf(keys, asked.ids))
      return { object: 'list', data, providers: [...DIRECT_PROVIDERS], has_more: false }
    },
  }),
  serveBy({
    method: 'POST',
    path: `${keys.base}/:provider`,
    tag,
    summary: 'Store a provider key, in place of the one of this name',
    answer: providerKey.schema,
    body: {
      // One word of printable ASCII, as in set-provider-key.sh.
      value: t.String({ pattern: '^[!-~]{1,1024}$' }),
      name: keyName,
      weight: t.Optional(t.Integer({ minimum: 1, maximum: 1000 })),
    },
    async serve(asked) {
      const { caller, options, ids, body } = asked
      const { value, name = DEFAULT_KEY, weight = null } = body
      const provider = requireProvider(ids.provider)
      await requireProject(caller.actor, ids.project_id)
      const sealed = await options.vault.seal(value, { projectId: ids.project_id, provider })
      await callAs(caller.actor, 'store_provider_key', {
        owner_id: ids.project_id,
        provider,
        sealed: `\\x${Buffer.from(sealed).toString('hex')}`,
        last_four: value.length < MIN_LENGTH_TO_SHOW ? '****' : value.slice(-4),
        name,
        weight,
      })
      const [stored] = await readVisible(keys, asked, filterOf(keys, ids, { _name: name }))
      if (!stored) throw notFound(providerKey.missing)
      return stored
    },
  }),
  serveBy({
    method: 'DELETE',
    path: `${keys.base}/:provider`,
    tag,
    summary: 'Remove a provider key',
    answer: deleted(providerKey.kind, { id: text, provider: text, name: text }),
    query: { name: keyName },
    async serve({ caller, ids: { project_id: project, provider: named }, query: { name = DEFAULT_KEY } }) {
      const provider = requireProvider(named)
      await callAs(caller.actor, 'remove_provider_key', { project, provider, name })
      return { object: `${providerKey.kind}.deleted`, id: formatId('proj', project), provider, name, deleted: true }
    },
  }),

  read(permissions, 'Read which models a project may use'),
  change(permissions, 'Set which models a project may use', {
    body: { mode: oneOf('allow_list', 'deny_list'), model_ids: t.Array(t.String(), { maxItems: 100 }) },
    calls: [
      'set_settings',
      ({ ids, body: { mode, model_ids } }) => {
        // An empty list of models that are denied denies none; an empty list of allowed ones would allow none, and the setting allows all.
        if ((mode === 'deny_list') !== (model_ids.length === 0)) {
          throw invalidRequest(
            'Give the models that are allowed (mode allow_list), or an empty deny_list to allow all: no single model can be denied.',
            'model_ids',
          )
        }
        return { project: ids.project_id, settings: { allowed_models: model_ids } }
      },
    ],
  }),
  remove(permissions, 'Let a project use all models', [
    'set_settings',
    ({ ids }) => ({ project: ids.project_id, settings: { allowed_models: [] } }),
  ]),
]
