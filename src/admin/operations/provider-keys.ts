/** Provider keys of a project, which are sealed before they reach the database and never shown again, and the models that it may use. */
import { Type as t } from '@sinclair/typebox'
import { listVendors } from '../../catalogue/vendor-directory.ts'
import { invalidRequestError } from '../../errors/errors.ts'
import { callAsActor } from '../../postgres/admin/call-as.ts'
import { DEFAULT_KEY_NAME } from '../../postgres/stored-objects.ts'
import { sealKey } from '../../providers/keys/vault.ts'
import { defineOperation } from '../admin-operation.ts'
import type { AdminOptions } from '../controller.ts'
import { defineCollection, defineDelete, defineRead, defineUpdate } from '../define-operations.ts'
import { secretSchema } from '../field-types.ts'
import {
  buildPathFilter,
  exactFilters,
  type OperationRequest,
  readExactFilters,
  readObjects,
  requireProject,
} from '../find-objects.ts'
import { formatId, notFoundError } from '../ids.ts'
import { defineObject, notFoundInProject, PROJECT_NOT_FOUND } from '../objects.ts'
import { stringEnum } from '../pagination.ts'
import { deletedSchema, listSchema, textSchema } from '../responses/shared.ts'

const providerKey = defineObject(
  'ProviderKey',
  'project.provider_key',
  'project_provider_keys',
  null,
  notFoundInProject('key of a provider'),
)
const modelPermissions = defineObject(
  'ModelPermissions',
  'project.model_permissions',
  'project_model_permissions',
  null,
  PROJECT_NOT_FOUND,
)

const tag = 'Provider keys'
const keys = defineCollection(providerKey, {
  tag,
  basePath: '/v1/organization/projects/:project_id/provider_keys',
  idParameter: 'provider',
})
const permissions = defineCollection(modelPermissions, {
  tag: 'Projects',
  basePath: '/v1/organization/projects/:project_id/model_permissions',
  idParameter: '',
})

const keyName = t.Optional(t.String({ minLength: 1, maxLength: 63 }))

/** Throws a 404 unless the vendor is in the database, where another process may just have added it. */
async function requireProvider({ database }: Pick<AdminOptions, 'database'>, name: unknown): Promise<string> {
  const names = (await listVendors(database)).map(vendor => vendor.name)
  const found = names.find(known => known === name)
  if (found !== undefined) return found
  throw notFoundError(`There is no such provider; providers are: ${names.join(', ')}.`)
}

/** Returns the project's key of the provider with this name. */
async function findKey(asked: OperationRequest, name: string = DEFAULT_KEY_NAME) {
  const [found] = await readObjects(keys, asked, buildPathFilter(keys, asked.ids, { _name: name }))
  if (!found) throw notFoundError(providerKey.notFoundMessage)
  return found
}

export const PROVIDER_KEY_OPERATIONS = [
  defineOperation({
    method: 'GET',
    path: keys.basePath,
    tag,
    summary: 'List a project’s provider keys',
    response: t.Object({
      ...listSchema(providerKey.schema).properties,
      providers: t.Array(textSchema, { description: 'The providers for which a project may have keys.' }),
      titles: t.Record(t.String(), t.String(), { description: 'The display names of the providers.' }),
    }),
    query: exactFilters('project_provider_keys'),
    async serve(asked) {
      const chosen = readExactFilters('project_provider_keys', asked.query)
      const data = await readObjects(keys, asked, buildPathFilter(keys, asked.ids, chosen))
      const vendors = await listVendors(asked.options.database)
      const titles = Object.fromEntries(vendors.map(({ name, title }) => [name, title]))
      return { object: 'list', data, providers: Object.keys(titles), titles, has_more: false }
    },
  }),
  defineOperation({
    method: 'GET',
    path: `${keys.basePath}/:provider`,
    tag,
    summary: 'Read a provider key',
    response: providerKey.schema,
    query: { name: keyName },
    serve: asked => findKey(asked, asked.query.name),
  }),
  defineOperation({
    method: 'POST',
    path: `${keys.basePath}/:provider`,
    tag,
    summary: 'Store a provider key, or replace the key with this name',
    response: providerKey.schema,
    body: {
      value: secretSchema,
      name: keyName,
      weight: t.Optional(t.Integer({ minimum: 1, maximum: 1000 })),
    },
    async serve(asked) {
      const { caller, options, ids, body } = asked
      const { value, name = DEFAULT_KEY_NAME, weight = null } = body
      const provider = await requireProvider(options, ids.provider)
      await requireProject(caller.actor, ids.project_id)
      const key = await sealKey(options.vault, value, { projectId: ids.project_id, provider })
      await callAsActor(caller.actor, 'store_provider_key', {
        owner_id: ids.project_id,
        provider,
        ...key,
        name,
        weight,
      })
      return findKey(asked, name)
    },
  }),
  defineOperation({
    method: 'DELETE',
    path: `${keys.basePath}/:provider`,
    tag,
    summary: 'Remove a provider key',
    response: deletedSchema(providerKey.kind, { id: textSchema, provider: textSchema, name: textSchema }),
    query: { name: keyName },
    async serve({
      caller,
      options,
      ids: { project_id: project, provider: named },
      query: { name = DEFAULT_KEY_NAME },
    }) {
      const provider = await requireProvider(options, named)
      await callAsActor(caller.actor, 'remove_provider_key', { project, provider, name })
      return { object: `${providerKey.kind}.deleted`, id: formatId('proj', project), provider, name, deleted: true }
    },
  }),

  defineRead(permissions, 'Read the models that a project may use'),
  defineUpdate(permissions, 'Set the models that a project may use', {
    body: { mode: stringEnum('allow_list', 'deny_list'), model_ids: t.Array(t.String(), { maxItems: 100 }) },
    calls: [
      'set_settings',
      ({ ids, body: { mode, model_ids } }) => {
        // An empty deny_list allows all models. An empty allow_list would allow none, but the setting would allow all.
        if ((mode === 'deny_list') !== (model_ids.length === 0)) {
          throw invalidRequestError(
            'model_ids must be a non-empty allow_list, or an empty deny_list to allow all models: single models cannot be denied.',
            'model_ids',
          )
        }
        return { project: ids.project_id, settings: { allowed_models: model_ids } }
      },
    ],
  }),
  defineDelete(permissions, 'Allow a project to use all models', [
    'set_settings',
    ({ ids }) => ({ project: ids.project_id, settings: { allowed_models: [] } }),
  ]),
]
