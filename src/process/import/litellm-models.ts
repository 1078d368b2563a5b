/** Plans the vendors, aliases and fallbacks for a LiteLLM model_list. */
import type { Vendor } from '../../config/vendors.ts'
import type { ImportReport } from './import-report.ts'
import {
  asList,
  asNumber,
  asObject,
  asText,
  type Json,
  type LiteLlmConfig,
  resolveEnvironment,
} from './litellm-source.ts'

/** Vendors by LiteLLM's prefix of a model, if their names differ. */
const VENDORS: Readonly<Record<string, string>> = {
  azure: 'azure-deployments',
  azure_ai: 'azure',
  cohere_chat: 'cohere',
  custom_openai: 'openai',
  fireworks_ai: 'fireworks',
  hosted_vllm: 'vllm',
  litellm_proxy: 'openai',
  lm_studio: 'lmstudio',
  nvidia_nim: 'nvidia',
  ollama_chat: 'ollama',
  openai_like: 'openai',
  'text-completion-openai': 'openai',
  together_ai: 'together',
  vercel_ai_gateway: 'vercel',
  vertex_ai: 'vertex',
  zai: 'zhipu',
}

/** Columns that a vendor at another address has in common with its model. */
const COPIED = [
  ...['format', 'endpoints', 'path_template', 'key_location', 'query_parameters', 'sent_headers', 'models_path'],
  ...['accepts_stream_options', 'output_limits', 'turn_rules', 'passes', 'headers', 'price_sources'],
] as const
const PRIVATE =
  /^http:|^https:\/\/(localhost|[^/:]+\.(local|internal|localhost)|(0|10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01]))\.[\d.]+|\[)/i

const MAX_FALLBACKS = 5
const MAX_NAMES = 100

export interface PlannedVendor {
  name: string
  columns: Json
  /** The key of the installation; null if the vendor needs none, or it is not known here. */
  key: string | null
}

export interface ModelPlan {
  vendors: PlannedVendor[]
  /** The model and its fallbacks by the name that clients send. */
  targets: ReadonlyMap<string, readonly string[]>
  /** Patterns of all names that LiteLLM accepts. */
  names: readonly string[]
  /** Members of the access groups of models. */
  groups: ReadonlyMap<string, readonly string[]>
  /** Milliseconds by model. */
  timeouts: { response: ReadonlyMap<string, number>; firstToken: ReadonlyMap<string, number> }
}

export interface ModelPlanOptions {
  vendors: readonly Vendor[]
  environment: Readonly<Record<string, string | undefined>>
  report: ImportReport
}

/** Parameters of a deployment that are used below, or have no effect here. */
const KNOWN_PARAMS = new Set([
  ...[
    'model',
    'api_key',
    'api_base',
    'base_url',
    'api_version',
    'order',
    'timeout',
    'stream_timeout',
    'vertex_project',
  ],
  ...['vertex_location', 'aws_region_name', 'litellm_credential_name', 'custom_llm_provider', 'weight', 'rpm', 'tpm'],
])
const PARAM_REASONS: Readonly<Record<string, string>> = {
  aws_access_key_id:
    'requests are not signed for AWS: create an Amazon Bedrock API key, and store it with set-vendor bedrock --key -',
  vertex_credentials: 'set VERTEX_API_KEY_COMMAND to a command that prints an access token',
  max_parallel_requests: 'concurrency is limited per key, by the plan',
  input_cost_per_token: 'prices are in the table models: catalogue:sync, or SQL',
  output_cost_per_token: 'prices are in the table models: catalogue:sync, or SQL',
}

export function planModels(config: LiteLlmConfig, options: ModelPlanOptions): ModelPlan {
  const { report } = options
  const planner = new VendorPlanner(config, options)
  const deployments = new Map<string, { order: number; target: string }[]>()
  const groups = new Map<string, string[]>()
  const timeouts = { response: new Map<string, number>(), firstToken: new Map<string, number>() }
  for (const { name, params, info } of config.models) {
    for (const group of asList(info.access_groups)) {
      const known = groups.get(String(group)) ?? []
      groups.set(String(group), [...known, name])
    }
    for (const param of Object.keys(params).filter(param => !KNOWN_PARAMS.has(param)))
      report.omit(
        `litellm_params.${param}`,
        PARAM_REASONS[param] ?? 'parameters are not added to requests; clients send them',
      )
    if (params.rpm !== undefined || params.tpm !== undefined)
      report.omit('litellm_params.rpm and tpm', 'a vendor’s own 429 moves the request to the next model instead')
    const target = planner.resolve(name, params)
    if (target === null) continue
    const all = deployments.get(name) ?? []
    if (!all.some(known => known.target === target)) all.push({ order: asNumber(params.order) ?? 1, target })
    deployments.set(name, all)
    setTimeouts(target, params, timeouts)
  }
  const own = new Map(
    [...deployments].map(([name, all]) => [name, all.sort((a, b) => a.order - b.order).map(({ target }) => target)]),
  )
  const targets = addFallbacks(own, config, report)
  const names = [...new Set([...config.models.map(({ name }) => name), ...targets.keys()])]
  for (const [name, [model, ...fallbacks]] of targets) {
    const balanced =
      (own.get(name)?.length ?? 1) > 1 ? 'the first is called, others if it fails; weights do not apply' : ''
    report.add('model', name, [model, ...fallbacks].join(' | '), balanced)
  }
  for (const name of names.filter(name => name.includes('*')))
    report.add('model', name, name, 'reached by the vendor’s name')
  return { vendors: planner.vendors, targets, names: names.slice(0, MAX_NAMES), groups, timeouts }
}

function setTimeouts(target: string, params: Json, { response, firstToken }: ModelPlan['timeouts']): void {
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
    const others = (fallbacks.get(name) ?? []).flatMap(group => own.get(group) ?? [group])
    const chain = [...new Set([...models, ...others])]
    if (chain.length > MAX_FALLBACKS + 1)
      report.omit(`fallbacks of ${name} beyond the ${MAX_FALLBACKS}th`, `an alias has ${MAX_FALLBACKS} fallbacks`)
    targets.set(name, chain.slice(0, MAX_FALLBACKS + 1))
  }
  for (const [alias, group] of Object.entries(asObject(router.model_group_alias))) {
    const models = targets.get(asText(group) ?? asText(asObject(group).model) ?? '')
    if (models) targets.set(alias, models)
    else report.omit(`model_group_alias ${alias}`, 'it names no model of model_list')
  }
  if (targets.size > MAX_NAMES)
    throw new Error(`a project has ${MAX_NAMES} aliases, and model_list has ${targets.size} names`)
  return targets
}

/** Assigns deployments to vendors. Each address and each key of a vendor is a vendor of its own. */
class VendorPlanner {
  readonly vendors: PlannedVendor[] = []
  readonly #byIdentity = new Map<string, PlannedVendor>()
  readonly #config: LiteLlmConfig
  readonly #options: ModelPlanOptions

  constructor(config: LiteLlmConfig, options: ModelPlanOptions) {
    this.#config = config
    this.#options = options
  }

  /** Returns the model's name here; null for a pattern, and for one without a counterpart, which is reported. */
  resolve(name: string, given: Json): string | null {
    const { vendors, environment, report } = this.#options
    const credential = this.#config.credentials.get(asText(given.litellm_credential_name) ?? '')
    const params = { ...credential, ...given }
    const [prefix, model] = splitModel(asText(params.model) ?? '', asText(params.custom_llm_provider), vendors)
    const base = vendors.find(vendor => vendor.name === (VENDORS[prefix] ?? prefix))
    if (!base || (prefix === 'vertex_ai' && /claude|mistral|llama/.test(model))) {
      report.omit(`model ${name}`, `no vendor for ${prefix}/: add one with set-vendor, and an alias`)
      return null
    }
    const address = resolveEnvironment(asText(params.api_base) ?? asText(params.base_url), environment)
    const columns = describeAddress(base, address, params)
    if (columns === null) {
      report.omit(`model ${name}`, `the address of ${prefix} is not known: give api_base`)
      return null
    }
    const vendor = this.#find(base, columns, asText(params.api_key))
    if (model.includes('*')) return null
    return `${vendor.name}/${prefix === 'vertex_ai' ? `google/${model}` : model}`
  }

  #find(base: Vendor, columns: Json, written: string | null): PlannedVendor {
    const { vendors, environment, report } = this.#options
    const identity = JSON.stringify([base.name, columns, written])
    const known = this.#byIdentity.get(identity)
    if (known) return known
    // Vendors without a released address have one for the installation.
    const isOwn = Object.keys(columns).length === 0 || (base.base_url === null && base.name !== 'azure-deployments')
    const isTaken = (name: string) => this.vendors.some(vendor => vendor.name === name)
    const isReleased = (name: string) => vendors.some(vendor => vendor.name === name && vendor.source === 'seed')
    const wanted = isOwn ? base.name : nameVendor(base.name, String(columns.base_url))
    let name = wanted
    for (let n = 2; isTaken(name) || (isReleased(name) && !(isOwn && name === base.name)); n++)
      name = `${wanted.slice(0, 28)}-${n}`
    const copied = Object.fromEntries([...COPIED, 'base_url' as const].map(column => [column, base[column]]))
    const key = resolveEnvironment(written, environment)
    const planned = { name, columns: name === base.name ? columns : { ...copied, ...columns }, key }
    if (written === null && base.key_location !== 'none')
      report.omit(`key of vendor ${name}`, `config.yaml has none: model-proxy set-vendor ${name} --key -`)
    else if (key === null && written !== null)
      report.omit(
        `key of vendor ${name}`,
        `${written.replace('os.environ/', '')} is not set here: set it, or run model-proxy set-vendor ${name} --key -`,
      )
    if (name !== base.name && base.key_location !== 'none')
      report.omit(
        `prices of vendor ${name}`,
        'a budget in dollars rejects models without a price: add theirs to the table models',
      )
    this.#byIdentity.set(identity, planned)
    this.vendors.push(planned)
    return planned
  }
}

/** Splits `azure/gpt-4o` into LiteLLM's prefix and the model. A bare name belongs to the vendor of such names. */
function splitModel(written: string, provider: string | null, vendors: readonly Vendor[]): [string, string] {
  if (provider !== null)
    return [provider, written.startsWith(`${provider}/`) ? written.slice(provider.length + 1) : written]
  const end = written.indexOf('/')
  const prefix = written.slice(0, end)
  if (end > 0 && (prefix in VENDORS || vendors.some(({ name }) => name === prefix)))
    return [prefix, written.slice(end + 1)]
  if (end > 0) return [prefix, written.slice(end + 1)]
  return [
    vendors.find(({ model_names }) => model_names !== null && new RegExp(model_names).test(written))?.name ?? 'openai',
    written,
  ]
}

/** Returns the columns of a vendor at this address; none if it is the vendor's own, null if the address is missing. */
function describeAddress(base: Vendor, address: string | null, params: Json): Json | null {
  const location = asText(params.vertex_location)
  const project = asText(params.vertex_project)
  const region = asText(params.aws_region_name)
  const at = (url: string) => ({ base_url: url, ...(PRIVATE.test(url) && { allows_private_address: true }) })
  const given = address?.replace(/\/+$/, '') ?? null
  if (base.name === 'azure-deployments' && given !== null)
    return {
      ...at(`${given.replace(/\/openai(\/.*)?$/, '')}/openai`),
      query_parameters: { 'api-version': asText(params.api_version) ?? '2024-10-21' },
    }
  if (base.name === 'vertex' && given === null && location && project)
    return at(
      `https://${location}-aiplatform.googleapis.com/v1/projects/${project}/locations/${location}/endpoints/openapi`,
    )
  if (base.name === 'bedrock' && given === null && region)
    return at(`https://bedrock-runtime.${region}.amazonaws.com/openai/v1`)
  if (given === null) return base.base_url === null ? null : {}
  const url = base.name === 'ollama' && !given.endsWith('/v1') ? `${given}/v1` : given
  return url === base.base_url ? {} : at(url)
}

/** Names a vendor after its host: `openai-llm-corp-example`. */
function nameVendor(base: string, url: string): string {
  const host = new URL(url).host.replace(/\.(openai\.azure\.com|com|net|org|io)(:\d+)?$/, '')
  return `${base.replace('-deployments', '')}-${host}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 31)
    .replace(/-$/, '')
}
