/**
 * Lists the models that a key can use, in the formats of OpenAI's and Anthropic's models endpoints at once. These requests are free and do
 * not count against the monthly quota.
 */
import type { Admission } from '../../admission/admission.ts'
import type { Catalogue } from '../../catalogue/catalogue.ts'
import { createError, ProxyError } from '../../errors/errors.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import type { CatalogueModel } from '../../postgres/list-models.ts'
import type { AvailableModel } from '../../providers/aggregator-models.ts'
import { findModelAlias, listModelAliases, type ModelAlias } from '../../providers/aliases.ts'
import { isModelAllowed, type ModelRouter, withoutModelAllowlist } from '../../providers/model-router.ts'
import { quoteModel } from '../../providers/routing-errors.ts'
import { createLiteLlmModelInfo, type LiteLlmModelInfo } from './litellm-model-info.ts'

export interface CallerCredentials {
  /** The Authorization header. */
  authorization: string | null
  address: string
}

/** OpenAI's fields, Anthropic's, and more from the catalogue. */
export interface DirectoryModel {
  id: string
  object: 'model'
  type: 'model'
  /** Equal to `id`: the catalogue has no other name. */
  display_name: string
  /** Unix seconds: the date of the catalogue's row; 0 for a model that is not in the catalogue. */
  created: number
  /** `created` in RFC 3339. */
  created_at: string
  /** The direct provider, or the vendor in the model's name. */
  owned_by: string
  /** Null if unknown. */
  kind: CatalogueModel['kind'] | null
  context_length: number | null
  max_output_tokens: number | null
  capabilities: string[]
  /** Day from which the provider no longer offers the model, `YYYY-MM-DD`; null if unknown. */
  retires_on: string | null
  /** The model that the provider recommends in its place; null if unknown. */
  successor: string | null
  /** The model to which an alias resolves; absent for other models. */
  alias_of?: string
}

/** All models, on one page. */
export interface DirectoryPage {
  object: 'list'
  data: DirectoryModel[]
  has_more: false
  first_id: string | null
  last_id: string | null
}

export interface ModelDirectory {
  /** Throws 401, 403 or 503. */
  list(caller: CallerCredentials): Promise<DirectoryPage>
  /** Throws as `list` does, and a 404 that explains how to make the model available. */
  find(caller: CallerCredentials, id: string): Promise<DirectoryModel>
  /** Returns the models in LiteLLM's format, or only the one with this id. */
  describeModels(caller: CallerCredentials, id: string | null): Promise<{ data: LiteLlmModelInfo[] }>
}

/** A model under a name that requests may use. */
interface NamedModel {
  name: string
  model: AvailableModel
  /** Set if the name is an alias. */
  alias?: ModelAlias
}

export function createModelDirectory(
  admission: Admission,
  modelRouter: ModelRouter,
  catalogue: Pick<Catalogue, 'vendors'>,
): ModelDirectory {
  const isDirect = (provider: string) => catalogue.vendors.find(provider) !== undefined

  const resolveCaller = ({ authorization, address }: CallerCredentials) =>
    admission.resolveKey(admission.hashKey(authorization), address)

  /** Returns null for an alias that the key may not use, or whose model is unavailable. */
  function findAliased(alias: ModelAlias, resolvedKey: ResolvedKey): NamedModel | null {
    const { name, model } = alias
    const known = isModelAllowed(name, resolvedKey) && modelRouter.findModel(model, withoutModelAllowlist(resolvedKey))
    return !known || known instanceof ProxyError ? null : { name, model: known, alias }
  }

  /** Lists the models and the aliases that the caller can use, sorted by name. */
  async function listNamed(caller: CallerCredentials): Promise<NamedModel[]> {
    const resolvedKey = await resolveCaller(caller)
    await modelRouter.loadModelNames(resolvedKey)
    const listed: NamedModel[] = modelRouter.listModels(resolvedKey).map(model => ({ name: model.model, model }))
    const aliases = listModelAliases(resolvedKey).flatMap(alias => findAliased(alias, resolvedKey) ?? [])
    // An alias takes the place of a model of its name.
    const byName = new Map([...listed, ...aliases].map(named => [named.name, named]))
    return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  function describeNamed({ name, model, alias }: NamedModel): DirectoryModel {
    const described = { ...describe(model, isDirect(model.provider)), id: name, display_name: name }
    return alias ? { ...described, alias_of: alias.model } : described
  }

  return {
    async list(caller) {
      const data = (await listNamed(caller)).map(describeNamed)
      return { object: 'list', data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
    },

    async find(caller, id) {
      const resolvedKey = await resolveCaller(caller)
      await modelRouter.loadModelNames(resolvedKey)
      const alias = findModelAlias(id, resolvedKey)
      const aliased = alias && findAliased(alias, resolvedKey)
      if (aliased) return describeNamed(aliased)
      const model = modelRouter.findModel(id, resolvedKey)
      if (!(model instanceof ProxyError)) return describeNamed({ name: id, model })
      throw model.status < 500 ? model : createError('modelNotListed', { model: quoteModel(id) })
    },

    async describeModels(caller, id) {
      const selected = (await listNamed(caller)).filter(({ name }) => id === null || name === id)
      if (id !== null && selected.length === 0) throw createError('modelNotListed', { model: quoteModel(id) })
      return {
        data: selected.map(({ name, model }) =>
          createLiteLlmModelInfo(name, model, ownerOf(model.provider, model.model, isDirect(model.provider))),
        ),
      }
    },
  }
}

const UNKNOWN_LIMITS = {
  contextTokens: null,
  maxOutputTokens: null,
  capabilities: [],
  retiresOn: null,
  successor: null,
}

function describe(available: AvailableModel, isDirect: boolean): DirectoryModel {
  const { provider, model, kind } = available
  const { contextTokens, maxOutputTokens, capabilities, retiresOn, successor, asOf } = {
    asOf: 0,
    ...UNKNOWN_LIMITS,
    ...available,
  }
  const created = new Date(asOf)
  return {
    id: model,
    object: 'model',
    type: 'model',
    display_name: model,
    created: created.getTime() / 1000,
    created_at: created.toISOString(),
    owned_by: ownerOf(provider, model, isDirect),
    kind,
    context_length: contextTokens,
    max_output_tokens: maxOutputTokens,
    capabilities,
    retires_on: retiresOn,
    successor,
  }
}

/** Returns the direct provider. For an aggregator's model, returns the vendor in its name, if there is one. */
function ownerOf(provider: string, model: string, isDirect: boolean): string {
  return isDirect || !model.includes('/') ? provider : (model.split('/')[0] ?? provider)
}
