/** GET …/projects/{id}/routes: who would answer each model, by the router's own plan; nothing is asked. */
import { t } from 'elysia'
import { ProxyError } from '../../errors/errors.ts'
import { type Actor, callAsActor } from '../../postgres/admin/call-as.ts'
import { readView } from '../../postgres/admin/read-view.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import type { ProjectSettings } from '../../postgres/types.generated.ts'
import { findModelAlias, listModelAliases } from '../../providers/aliases.ts'
import { DIRECT_PROVIDERS, type RoutingContext } from '../../providers/model-router.ts'
import { type AdminOperation, defineOperation } from '../admin-operation.ts'
import type { AdminOptions } from '../controller.ts'
import { requireProject } from '../find-objects.ts'
import { repeatableParameter, stringEnum } from '../pagination.ts'
import { routeSchema } from '../responses/projects.ts'
import { listSchema } from '../responses/shared.ts'

/** So many of the longest fit into an address that the server reads. */
const MOST_MODELS = 50

/** What of an account decides about models. */
type Planned = RoutingContext & Pick<ResolvedKey, 'aliases'>

export const ROUTE_OPERATIONS: readonly AdminOperation[] = [
  defineOperation({
    ...{
      method: 'GET',
      path: '/v1/organization/projects/:project_id/routes',
      tag: 'Projects',
      response: listSchema(routeSchema),
    },
    summary: 'Say who would answer each model',
    query: {
      // Without names, and without a provider whose names they are: all that the project can use.
      models: t.Optional(t.Array(t.String({ minLength: 1, maxLength: 256 }), { maxItems: MOST_MODELS })),
      native_to: t.Optional(stringEnum(...DIRECT_PROVIDERS)),
      // As if these were the providers that the project has keys for; one empty name stands for none.
      provider_keys: repeatableParameter(t.String({ maxLength: 100 })),
      key_type: t.Optional(stringEnum('project', 'test')),
    },
    async serve({ caller, options, ids, query: { models, native_to, provider_keys, key_type } }) {
      await requireProject(caller.actor, ids.project_id)
      const { describeRoute, listNames } = routesBy(options.modelRouter)
      const account: Planned = {
        ...(await readRouted(caller.actor, ids.project_id)),
        key_type: key_type ?? 'project',
        ...(provider_keys && { direct_providers: provider_keys.filter(name => name !== '') }),
      }
      const names = models ?? listNames(account, native_to)
      return { object: 'list', data: names.map(name => describeRoute(name, account)), has_more: false }
    },
  }),
]

function routesBy(modelRouter: AdminOptions['modelRouter']) {
  /** `provider` is null where the model would be refused; `problem` says why. */
  function describeRoute(model: string, account: Planned) {
    const alias = findModelAlias(model, account)
    const asked = alias?.model ?? model
    const way = modelRouter.resolve(asked, account, [], alias?.name)
    const refused = way instanceof ProxyError ? { status: way.status, code: way.code, message: way.message } : null
    const found = modelRouter.findModel(asked, account)
    const known = found instanceof ProxyError || found.kind === null ? null : found
    return {
      id: model,
      object: 'project.route' as const,
      // Another than the id for an alias alone.
      model: asked,
      kind: known?.kind ?? null,
      provider: way instanceof ProxyError ? null : way.name,
      input_usd_per_million: known?.inputUsdPerMillion ?? null,
      output_usd_per_million: known?.outputUsdPerMillion ?? null,
      problem: refused,
    }
  }

  /** All that the project can use; or all that a provider has, under its own names. */
  function listNames(account: Planned, nativeTo: string | undefined): string[] {
    if (nativeTo === undefined) {
      const models = modelRouter.listModels(account).map(({ model }) => model)
      return [...new Set([...listModelAliases(account).map(({ name }) => name), ...models])]
    }
    const native = modelRouter.listModels({ ...account, key_type: 'project', direct_providers: [nativeTo] })
    return native.filter(({ provider }) => provider === nativeTo).map(({ model }) => model)
  }

  return { describeRoute, listNames }
}

/** What decides about a project's models, for no key in particular. */
async function readRouted(actor: Actor, project: number): Promise<Omit<Planned, 'key_type'>> {
  const [settings, keys] = await Promise.all([
    callAsActor(actor, 'project_settings', { of_project: project }),
    readView(actor, 'project_provider_keys', { _project_id: project }),
  ])
  const { allowed_models = [], aliases = [] } = (settings ?? {}) as Partial<ProjectSettings>
  return {
    project_id: project,
    direct_providers: keys.map(({ provider }) => provider),
    // Below every real one: nothing that requests have opened is replaced.
    provider_keys_version: 0,
    named_provider_keys: null,
    allowed_models,
    key_allowed_models: null,
    aliases,
  }
}
