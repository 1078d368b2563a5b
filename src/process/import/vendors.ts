/** Plans the vendors, by address and key, for the deployments of a model_list in LiteLLM's form. */
import { AGGREGATOR } from '../../catalogue/model-index.ts'
import { normalizeBaseUrl } from '../../config/address-readers.ts'
import { settingPrefixOf, type Vendor } from '../../config/vendors.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import type { LiteLlmConfig } from './litellm-source.ts'
import type { ImportReport } from './report.ts'
import { asText } from './source.ts'

/** Returns whether a list of models or aliases can contain the name. */
export const isModelName = (name: string) => /^[^\s\p{Cc}=|,]{1,256}$/u.test(name)

/** Vendors by LiteLLM's prefixes of models that are no names of theirs, nor of their price tables (`price_sources`). */
const VENDORS: Readonly<Record<string, string>> = {
  azure: 'azure-deployments',
  azure_ai: 'azure',
  custom_openai: 'openai',
  hosted_vllm: 'vllm',
  litellm_proxy: 'openai',
  lm_studio: 'lmstudio',
  ollama_chat: 'ollama',
  openai_like: 'openai',
  'text-completion-openai': 'openai',
  vertex_ai: 'vertex',
}

function findVendor(prefix: string, vendors: readonly Vendor[]): Vendor | undefined {
  const name = VENDORS[prefix] ?? prefix
  return vendors.find(vendor => vendor.name === name) ?? vendors.find(vendor => vendor.price_sources.includes(name))
}

/** Vendors that name models as the aggregator does, with their makers. */
const NAMES_WITH_MAKERS = new Set(['openrouter', 'vertex'])
/** Makers whose names at the aggregator are no names of theirs, nor of their price tables. */
const MAKERS: Readonly<Record<string, string>> = { mistral: 'mistralai', xai: 'x-ai', zhipu: 'z-ai' }

/** Returns the aggregator's names of a model of this vendor. Another vendor's model of the same name has another price. */
const namesAtAggregator = ({ name, price_sources }: Vendor, model: string): string[] =>
  NAMES_WITH_MAKERS.has(name)
    ? [`${AGGREGATOR}/${model}`]
    : [MAKERS[name] ?? name, ...price_sources].map(maker => `${AGGREGATOR}/${maker}/${model}`)

/** Columns that a vendor at another address has in common with its model. */
const COPIED = [
  ...['format', 'endpoints', 'path_template', 'key_location', 'query_parameters', 'sent_headers', 'models_path'],
  ...['accepts_stream_options', 'output_limits', 'turn_rules', 'passes', 'headers', 'price_sources'],
] as const
/** Keys that a header can contain. */
const KEY = /^[\x21-\x7e]{1,16384}$/
const PRIVATE =
  /^http:|^https:\/\/(localhost|[^/:]+\.(local|internal|localhost)|(0|10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01]))\.[\d.]+|\[)/i

export interface PlannedVendor {
  name: string
  columns: JsonObject
  /** The key of the installation; null if the vendor needs none, or it is not known here. */
  key: string | null
  /** Its models without a price, and the model of the catalogue whose price they have. */
  models: { model: string; like: string }[]
}

export interface ModelPlanOptions {
  vendors: readonly Vendor[]
  environment: Environment
  /** The models of the catalogue, as vendor and model. */
  priced: ReadonlySet<string>
  report: ImportReport
}

/** Assigns deployments to vendors. Each address and each key of a vendor is a vendor of its own. */
export class VendorPlanner {
  readonly vendors: PlannedVendor[] = []
  readonly #byIdentity = new Map<string, PlannedVendor>()
  readonly #config: LiteLlmConfig
  readonly #options: ModelPlanOptions

  constructor(config: LiteLlmConfig, options: ModelPlanOptions) {
    this.#config = config
    this.#options = options
  }

  /** Returns the name here of the model or pattern; null for one without a counterpart, which is reported. */
  resolve(name: string, given: JsonObject, baseModel: string | null = null): string | null {
    const { vendors, environment, report } = this.#options
    const credential = this.#config.credentials.get(asText(given.litellm_credential_name) ?? '')
    const written = asText({ ...credential, ...given }.api_key)
    const params = resolveAll({ ...credential, ...given }, environment)
    const [prefix, model] = splitModel(asText(params.model) ?? '', asText(params.custom_llm_provider), vendors)
    const base = findVendor(prefix, vendors)
    if (!base || (prefix === 'vertex_ai' && /claude|mistral|llama/.test(model))) {
      report.omit(`model ${name}`, `no vendor for ${prefix}/: add one with set-vendor, and an alias`)
      return null
    }
    const columns = describeAddress(base, asText(params.api_base) ?? asText(params.base_url), params)
    if (columns === null || !isModelName(model)) {
      const reason = columns
        ? 'its name contains spaces, commas, = or |'
        : `the address of ${prefix} is not known: give api_base`
      report.omit(`model ${name}`, reason)
      return null
    }
    // As LiteLLM does, a deployment without a key uses the vendor's variable, if it is set.
    const variable = `${prefix.toUpperCase()}_API_KEY`
    const reference = written ?? (environment[variable] ? `os.environ/${variable}` : null)
    const vendor = this.#find(base, columns, reference, asText(params.vendor_name))
    if (model.includes('*')) return `${vendor.name}/${model}`
    const own = prefix === 'vertex_ai' ? `google/${model}` : model
    // A deployment has a name of its own, and the price of what is deployed.
    const deployed = (baseModel ?? model).replace(/^.*\//, '')
    if (base.key_location !== 'none')
      this.#price(vendor, own, [`${base.name}/${own}`, `openai/${deployed}`, ...namesAtAggregator(base, own)])
    return `${vendor.name}/${own}`
  }

  /** Gives the model the price of the first of these that the catalogue has. */
  #price(vendor: PlannedVendor, model: string, likes: readonly string[]): void {
    const { priced, report } = this.#options
    if (priced.has(`${vendor.name}/${model}`) || vendor.models.some(known => known.model === model)) return
    const like = likes.find(name => priced.has(name))
    const name = `price of ${vendor.name}/${model}`
    if (like) vendor.models.push({ model, like })
    if (like?.startsWith(`${AGGREGATOR}/`))
      report.omit(name, `the aggregator’s for ${like.slice(AGGREGATOR.length + 1)}: compare it with the vendor’s`)
    if (!like)
      report.omit(
        name,
        vendor.name.startsWith('azure')
          ? 'not known, and a budget in dollars rejects the model: give model_info.base_model, or add a price (docs/providers.md)'
          : 'not known, and a budget in dollars rejects the model: add a price (docs/providers.md)',
      )
  }

  /** A name is given if clients send it before the names of models. */
  #find(base: Vendor, columns: JsonObject, written: string | null, given: string | null): PlannedVendor {
    const { vendors, environment, report } = this.#options
    const identity = JSON.stringify([base.name, columns, written, given])
    const known = this.#byIdentity.get(identity)
    if (known) return known
    // Vendors without a released address have one for the installation.
    const isOwn = Object.keys(columns).length === 0 || (base.base_url === null && base.name !== 'azure-deployments')
    const isTaken = (name: string) => this.vendors.some(vendor => vendor.name === name)
    const isReleased = (name: string) => vendors.some(vendor => vendor.name === name && vendor.source === 'seed')
    const wanted = given ?? (isOwn ? base.name : nameVendor(base.name, String(columns.base_url)))
    let name = wanted
    for (let n = 2; isTaken(name) || (isReleased(name) && !(isOwn && name === base.name)); n++)
      name = `${wanted.slice(0, 28)}-${n}`
    // Another key of a vendor is used at the installation's address of the vendor.
    const address = normalizeBaseUrl(environment[`${settingPrefixOf(base.name)}_BASE_URL`] ?? '') ?? base.base_url
    const copied = {
      ...Object.fromEntries(COPIED.map(column => [column, base[column]])),
      ...(address !== null && at(address)),
    }
    const value = resolveEnvironment(written, environment)
    const key = value !== null && KEY.test(value) ? value : null
    const planned: PlannedVendor = {
      name,
      columns: name === base.name ? columns : { ...copied, ...columns },
      key,
      models: [],
    }
    const [, variable] = /^os\.environ\/(.+)$/.exec(written ?? '') ?? []
    if (key === null && (written !== null || base.key_location !== 'none'))
      report.omitKey(
        name,
        variable ? `${variable} is not set here, or is no key: set it, or run` : 'config.yaml has none:',
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
  if (end > 0) return [prefix, written.slice(end + 1)]
  return [
    vendors.find(({ model_names }) => model_names !== null && new RegExp(model_names).test(written))?.name ?? 'openai',
    written,
  ]
}

const at = (url: string) => ({ base_url: url, ...(PRIVATE.test(url) && { allows_private_address: true }) })

/** Returns the columns of a vendor at this address; none if it is the vendor's own, null if the address is missing. */
function describeAddress(base: Vendor, address: string | null, params: JsonObject): JsonObject | null {
  const location = asText(params.vertex_location)
  const project = asText(params.vertex_project)
  const region = asText(params.aws_region_name)
  const given = address?.replace(/\/$/, '') ?? null
  if (given !== null && !/^https?:$/.test(URL.parse(given)?.protocol ?? '')) return null
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

type Environment = Readonly<Record<string, string | undefined>>

/** Replaces `os.environ/NAME` by the variable's value; null if it is not set here. */
function resolveEnvironment(value: string | null, environment: Environment): string | null {
  const name = value?.match(/^os\.environ\/(.+)$/)?.[1]
  return name === undefined ? value : (environment[name] ?? null)
}

/** Replaces every text of an object; one whose variable is not set here is omitted. */
function resolveAll(values: JsonObject, environment: Environment): JsonObject {
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? resolveEnvironment(value, environment) : value,
  ])
  return Object.fromEntries(entries.filter(([, value]) => value !== null))
}
