/** GET …/projects/{id}/routes: the provider to which the router would send each model. No provider is called. */
import { Type as t } from '@sinclair/typebox'
import { ProxyError } from '../../errors/errors.ts'
import { type Actor, callAsActor } from '../../postgres/admin/call-as.ts'
import { readView } from '../../postgres/admin/read-view.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import type { ProjectSettings } from '../../postgres/types.generated.ts'
import { findModelAlias, listModelAliases } from '../../providers/aliases.ts'
import type { RoutingContext } from '../../providers/model-router.ts'
import { type AdminOperation, defineOperation } from '../admin-operation.ts'
import type { AdminOptions } from '../controller.ts'
import { repeatableParameter, stringEnum } from '../pagination.ts'
import { routeSchema } from '../responses/projects.ts'
import { listSchema } from '../responses/shared.ts'

/** A URL within the server's limit can hold this many model names of the maximum length. */
const MAX_MODELS = 50

/** The properties of a key that decide how its models are routed. */
type RoutingProperties = RoutingContext & Pick<ResolvedKey, 'aliases'>

export const ROUTE_OPERATIONS: readonly AdminOperation[] = [
  defineOperation({
    ...{
      method: 'GET',
      path: '/v1/organization/projects/:project_id/routes',
      tag: 'Projects',
      response: listSchema(routeSchema),
    },
    summary: 'List the provider of each model',
    query: {
      // Without models and native_to, all models that the project can use.
      models: t.Optional(t.Array(t.String({ minLength: 1, maxLength: 256 }), { maxItems: MAX_MODELS })),
      native_to: t.Optional(t.String({ maxLength: 100 })),
      // The providers for which to assume that the project has keys. One empty name stands for none.
      provider_keys: repeatableParameter(t.String({ maxLength: 100 })),
      key_type: t.Optional(stringEnum('project', 'test')),
    },
    async serve({ caller, options, ids, query: { models, native_to, provider_keys, key_type } }) {
      const { describeRoute, listNames } = createRouteReader(options.modelRouter)
      const key: RoutingProperties = {
        ...(await readRoutingProperties(caller.actor, ids.project_id)),
        key_type: key_type ?? 'project',
        ...(provider_keys && { direct_providers: provider_keys.filter(name => name !== '') }),
      }
      const names = models ?? listNames(key, native_to)
      return { object: 'list', data: names.map(name => describeRoute(name, key)), has_more: false }
    },
  }),
]

function createRouteReader(modelRouter: AdminOptions['modelRouter']) {
  /** Describes a route. `provider` is null if the model would be rejected, and `problem` has the reason. */
  function describeRoute(model: string, key: RoutingProperties) {
    const alias = findModelAlias(model, key)
    const requested = alias?.model ?? model
    const route = modelRouter.resolve(requested, key, [], alias?.name)
    const problem =
      route instanceof ProxyError ? { status: route.status, code: route.code, message: route.message } : null
    const found = modelRouter.findModel(requested, key)
    const known = found instanceof ProxyError || found.kind === null ? null : found
    return {
      id: model,
      object: 'project.route' as const,
      // The model behind an alias; otherwise the id.
      model: requested,
      kind: known?.kind ?? null,
      provider: route instanceof ProxyError ? null : route.name,
      input_usd_per_million: known?.inputUsdPerMillion ?? null,
      output_usd_per_million: known?.outputUsdPerMillion ?? null,
      problem,
    }
  }

  /** Lists all models that the project can use, or all models of a provider under its own names. */
  function listNames(key: RoutingProperties, nativeTo: string | undefined): string[] {
    if (nativeTo === undefined) {
      const models = modelRouter.listModels(key).map(({ model }) => model)
      return [...new Set([...listModelAliases(key).map(({ name }) => name), ...models])]
    }
    const native = modelRouter.listModels({ ...key, key_type: 'project', direct_providers: [nativeTo] })
    return native.filter(({ provider }) => provider === nativeTo).map(({ model }) => model)
  }

  return { describeRoute, listNames }
}

/** Reads the routing properties of a project, independent of a key. */
async function readRoutingProperties(actor: Actor, project: number): Promise<Omit<RoutingProperties, 'key_type'>> {
  const [settings, keys] = await Promise.all([
    callAsActor(actor, 'project_settings', { of_project: project }),
    readView(actor, 'project_provider_keys', { _project_id: project }),
  ])
  const { allowed_models = [], aliases = [] } = (settings ?? {}) as Partial<ProjectSettings>
  return {
    project_id: project,
    direct_providers: keys.map(({ provider }) => provider),
    // Lower than every real version, so that provider keys cached for requests are not replaced.
    provider_keys_version: 0,
    named_provider_keys: null,
    allowed_models,
    key_allowed_models: null,
    aliases,
  }
}
