/** Plans the vendors, aliases and fallbacks for a model_list in LiteLLM's form. */
import type { JsonObject } from '../../formats/json/canonical.ts'
import type { LiteLlmConfig } from './litellm-source.ts'
import type { ImportReport } from './report.ts'
import { asList, asNumber, asObject, asText } from './source.ts'
import { isModelName, type ModelPlanOptions, type PlannedVendor, VendorPlanner } from './vendors.ts'

const MAX_FALLBACKS = 5
const MAX_NAMES = 100

export interface ModelPlan {
  vendors: PlannedVendor[]
  /** The model and its fallbacks by the name that clients send. */
  targets: ReadonlyMap<string, readonly string[]>
  /** Patterns of all names that LiteLLM accepts. */
  names: readonly string[]
  /** Patterns here by those that clients send, such as `openai-2/*` by `eu/*`. */
  patterns: ReadonlyMap<string, string>
  /** Members of the access groups of models. */
  groups: ReadonlyMap<string, readonly string[]>
  /** Milliseconds by model. */
  timeouts: { response: ReadonlyMap<string, number>; firstToken: ReadonlyMap<string, number> }
}

/** Parameters of a deployment that are used below, or have no effect here. */
const KNOWN_PARAMS = new Set(
  `model api_key api_base base_url api_version order timeout stream_timeout vertex_project vertex_location aws_region_name
  litellm_credential_name custom_llm_provider weight rpm tpm vendor_name`.split(/\s+/),
)
const PARAM_REASONS: Readonly<Record<string, string>> = {
  aws_access_key_id:
    'requests are not signed for AWS: create an Amazon Bedrock API key, and store it with set-vendor bedrock --key -',
  vertex_credentials: 'set VERTEX_API_KEY_COMMAND to a command that prints an access token',
  max_parallel_requests: 'concurrency is limited per key, by the plan',
}
const PRICE_REASON = 'prices are in the catalogue: docs/providers.md'

const isPrice = (name: string) => /_cost_per_/.test(name)

export function planModels(config: LiteLlmConfig, given: ModelPlanOptions): ModelPlan {
  const { report } = given
  const planner = new VendorPlanner(config, { ...given, environment: { ...given.environment, ...config.environment } })
  const deployments = new Map<string, { order: number; target: string }[]>()
  const patterns = new Map<string, string>()
  const groups = new Map<string, string[]>()
  const timeouts = { response: new Map<string, number>(), firstToken: new Map<string, number>() }
  for (const { name, params, info } of config.models) {
    for (const group of asList(info.access_groups)) {
      const known = groups.get(String(group)) ?? []
      groups.set(String(group), [...known, name])
    }
    for (const param of Object.keys(params).filter(param => !KNOWN_PARAMS.has(param) && !isPrice(param)))
      report.omit(
        `litellm_params.${param}`,
        PARAM_REASONS[param] ?? 'parameters are not added to requests; clients send them',
      )
    for (const price of Object.keys({ ...info, ...params }).filter(isPrice)) report.omit(price, PRICE_REASON)
    if (params.rpm !== undefined || params.tpm !== undefined)
      report.omit('litellm_params.rpm and tpm', 'a vendor’s own 429 moves the request to the next model instead')
    if (!isModelName(name)) {
      report.omit(`model ${name}`, 'its name contains spaces, commas, = or |')
      continue
    }
    const target = planner.resolve(name, params, asText(info.base_model))
    if (target?.includes('*') && name.includes('*')) patterns.set(name, target)
    if (target === null || target.includes('*')) continue
    const all = deployments.get(name) ?? []
    if (!all.some(known => known.target === target)) all.push({ order: asNumber(params.order) ?? 1, target })
    deployments.set(name, all)
    setTimeouts(target, params, timeouts)
  }
  const own = new Map(
    [...deployments].map(([name, all]) => [name, all.sort((a, b) => a.order - b.order).map(({ target }) => target)]),
  )
  const targets = addFallbacks(own, config, report)
  const names = [...new Set([...config.models.map(({ name }) => name).filter(isModelName), ...targets.keys()])]
  for (const [name, [model, ...fallbacks]] of targets) {
    const balanced =
      (own.get(name)?.length ?? 1) > 1 ? 'the first is called, others if it fails; weights do not apply' : ''
    report.add('model', name, [model, ...fallbacks].join(' | '), balanced)
  }
  for (const [name, target] of patterns) report.add('model', name, target, 'reached by the vendor’s name')
  return { vendors: planner.vendors, targets, names: names.slice(0, MAX_NAMES), patterns, groups, timeouts }
}

function setTimeouts(target: string, params: JsonObject, { response, firstToken }: ModelPlan['timeouts']): void {
  const [timeout, streamTimeout] = [asNumber(params.timeout), asNumber(params.stream_timeout)]
  if (timeout !== null) (response as Map<string, number>).set(target, timeout * 1000)
  if (streamTimeout !== null) (firstToken as Map<string, number>).set(target, streamTimeout * 1000)
}

/** Adds aliases of model groups, and the models of fallback groups behind each group's own. */
function addFallbacks(own: ReadonlyMap<string, string[]>, config: LiteLlmConfig, report: ImportReport) {
  const { router_settings: router, litellm_settings: general } = config.sections
  const fallbacks = new Map(
    asList(router.fallbacks ?? general.fallbacks).flatMap(entry =>
      Object.entries(asObject(entry)).map(([name, list]) => [name, asList(list).map(String)] as const),
    ),
  )
  const targets = new Map<string, string[]>()
  for (const [name, models] of own) {
    if (name.includes('*')) continue
    const others = (fallbacks.get(name) ?? []).flatMap(group => own.get(group) ?? [group]).filter(isModelName)
    const chain = [...new Set([...models, ...others])]
    if (chain.length > MAX_FALLBACKS + 1)
      report.omit(`fallbacks of ${name} beyond the ${MAX_FALLBACKS}th`, `an alias has ${MAX_FALLBACKS} fallbacks`)
    targets.set(name, chain.slice(0, MAX_FALLBACKS + 1))
  }
  for (const [alias, group] of Object.entries(asObject(router.model_group_alias))) {
    const models = targets.get(asText(group) ?? asText(asObject(group).model) ?? '')
    if (models && isModelName(alias)) targets.set(alias, models)
    else
      report.omit(
        `model_group_alias ${alias}`,
        models ? 'its name contains spaces, commas, = or |' : 'it names no model of model_list',
      )
  }
  if (targets.size > MAX_NAMES)
    throw new Error(`a project has ${MAX_NAMES} aliases, and model_list has ${targets.size} names`)
  return targets
}
