/** Turns GoModel's providers and virtual models into deployments, which are planned as those of a LiteLLM model_list. */
import { isJsonObject, type JsonObject } from '../../formats/json/canonical.ts'
import { type GoModelConfig, isTrue, isWithin, normalizePath } from './gomodel-source.ts'
import { EMPTY_CONFIG, type LiteLlmConfig } from './litellm-source.ts'
import type { ImportReport } from './report.ts'
import { asList, asNumber, asObject, asText } from './source.ts'

/** A model of a provider; null: of any. */
export interface Target {
  provider: string | null
  model: string
}

/** A virtual model that stands for others. */
export interface Redirect {
  source: string
  targets: readonly Target[]
  /** Who may use it; empty: everyone. */
  paths: readonly string[]
}

export interface GoModelModels {
  /** The redirects and providers in LiteLLM's form. */
  deployments: LiteLlmConfig
  redirects: readonly Redirect[]
  /** Whether access policies close any model to anyone. */
  hasPolicies: boolean
  /** Returns whether no policy closes the model to a path. Where it is not certain that a policy is about the model, it is. */
  isOpen(target: Target, path: string): boolean
}

/** The other sections of config.yaml. An empty reason: used, or without an effect here. */
const SECTION_REASONS: Readonly<Record<string, string>> = {
  ...{ budgets: '', cache: '', http: '', rate_limits: '', storage: '', usage: '', version_check: '' },
  server: 'PORT, TRUST_PROXY and MAX_BODY_BYTES; administrators have accounts instead of a master key',
  tagging: 'clients send X-Proxy-Tags',
  session: 'an alias calls its first model, and the next one if that fails',
  mcp: 'MCP servers are not proxied',
  logging: 'the setting log_content of each project',
  metrics: 'metrics are at METRICS_PORT',
  workflows: 'settings belong to projects',
  resilience: 'UPSTREAM_MAX_RETRIES and UPSTREAM_CIRCUIT_FAILURES, for the installation',
  guardrails: 'guardrails are a hook: docs/hooks.md',
  failover: 'an alias calls its next model if one fails: declare virtual_models with the strategy failover',
}

export function planVirtualModels(
  rows: readonly JsonObject[],
  config: GoModelConfig,
  report: ImportReport,
): GoModelModels {
  // Those of config.yaml replace those of the database.
  const bySource = new Map([...rows, ...config.virtualModels].map(row => [String(row.source), row]))
  const redirects: Redirect[] = []
  const policies: JsonObject[] = []
  for (const [source, row] of bySource) {
    const targets = isEnabled(row) ? resolveTargets(source, bySource, []) : []
    if (targetsOf(row).length === 0) policies.push(row)
    else if (targets.length === 0) report.omit(`virtual model ${source}`, 'it is disabled, or all of its models are')
    else redirects.push({ source, targets, paths: pathsOf(row) })
    if (row.slowdown) report.omit(`slowdown of ${source}`, 'responses are not delayed')
  }
  for (const section of Object.keys(config.sections)) {
    const reason = SECTION_REASONS[section]
    if (config.sections[section] !== null && reason !== '') report.omit(section, reason ?? 'not supported here')
  }
  const closing = policies.filter(row => !isEnabled(row) || pathsOf(row).length > 0 || asList(row.groups).length > 0)
  return {
    deployments: {
      ...toSettings(config),
      models: [...toDeployments(redirects, config), ...toPatterns(config, report)],
    },
    redirects,
    hasPolicies: closing.length > 0 || !config.isEnabledByDefault,
    isOpen(target, path) {
      const about = policies.filter(({ source }) => mayMatch(String(source), target))
      const allows = (row: JsonObject) =>
        isEnabled(row) && (pathsOf(row).length === 0 ? asList(row.groups).length === 0 : isAllowed(path, pathsOf(row)))
      return about.every(allows) && (config.isEnabledByDefault || about.length > 0)
    },
  }
}

/** Returns whether all of a path may use what these paths may. */
export const isAllowed = (path: string, paths: readonly string[]): boolean =>
  paths.length === 0 || paths.some(allowed => isWithin(path, allowed))

const isEnabled = ({ enabled }: JsonObject): boolean => enabled === undefined || isTrue(enabled)
const pathsOf = (row: JsonObject): string[] => asList(row.user_paths).map(normalizePath)

function targetsOf({ target, targets }: JsonObject): Target[] {
  return [...asList(targets), ...(asText(target) === null ? [] : [{ model: target }])]
    .filter(isJsonObject)
    .map(each => {
      const model = String(each.model)
      const provider = asText(each.provider)
      const end = model.indexOf('/')
      if (provider === null && end > 0) return { provider: model.slice(0, end), model: model.slice(end + 1) }
      return { provider, model: model.startsWith(`${provider}/`) ? model.slice(`${provider}/`.length) : model }
    })
}

/** Replaces targets that are redirects themselves by their targets. A redirect's own name is the model of that name. */
function resolveTargets(
  source: string,
  bySource: ReadonlyMap<string, JsonObject>,
  within: readonly string[],
): Target[] {
  const outer = [...within, source]
  return targetsOf(bySource.get(source) ?? {}).flatMap(target => {
    const name = target.provider === null ? target.model : `${target.provider}/${target.model}`
    const inner = bySource.get(name)
    if (!inner || outer.includes(name) || targetsOf(inner).length === 0) return [target]
    return isEnabled(inner) ? resolveTargets(name, bySource, outer) : []
  })
}

function toDeployments(redirects: readonly Redirect[], config: GoModelConfig): LiteLlmConfig['models'] {
  return redirects.flatMap(({ source, targets }) =>
    targets.map((target, order) => ({ name: source, params: { ...paramsOf(target, config), order }, info: {} })),
  )
}

/** All models of each provider, so that it becomes a vendor even if no redirect names it. */
function toPatterns(config: GoModelConfig, report: ImportReport): LiteLlmConfig['models'] {
  return [...config.providers].map(([provider, written]) => {
    const params = paramsOf({ provider, model: '*' }, config)
    if (asList(written.api_keys).length > 1 || (asText(written.api_key) && asList(written.api_keys).length > 0))
      report.omit(`further keys of ${provider}`, 'a vendor has one key')
    for (const field of ['service_account_file', 'service_account_json', 'service_account_json_base64'])
      if (asText(written[field])) report.omit(`${field} of ${provider}`, 'set VERTEX_API_KEY_COMMAND')
    for (const field of ['model_filter', 'proxy_url', 'models', 'resilience'])
      if (written[field]) report.omit(`${field} of ${provider}`, 'vendors have no such setting: docs/providers.md')
    return { name: `${provider}/*`, params, info: {} }
  })
}

/** Returns the parameters that LiteLLM has for the model. */
function paramsOf({ provider, model }: Target, { providers }: GoModelConfig): JsonObject {
  const written = provider === null ? undefined : providers.get(provider)
  if (!written) return { model: provider === null ? model : `${provider}/${model}` }
  const type = asText(written.type) ?? String(provider)
  const base = asText(written.base_url)
  const params = {
    model: `${type}/${model}`,
    custom_llm_provider: type,
    ...(base !== null && (base.includes('://') ? { api_base: base } : { aws_region_name: base })),
    api_key: asText(written.api_key) ?? asText(asList(written.api_keys)[0]),
    api_version: asText(written.api_version),
    vertex_project: asText(written.vertex_project),
    vertex_location: asText(written.vertex_location),
    vendor_name: provider !== type && /^[a-z][a-z0-9-]{0,28}$/.test(String(provider)) ? provider : null,
  }
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null))
}

const DEFAULT_TTL_SECONDS = 3_600

/** The settings for caching and time limits, in LiteLLM's form. */
function toSettings({ sections }: GoModelConfig): Omit<LiteLlmConfig, 'models'> {
  const { simple, semantic } = asObject(asObject(sections.cache).response)
  const isOn = (cache: unknown) => isJsonObject(cache) && cache.enabled !== false
  return {
    ...EMPTY_CONFIG,
    sections: {
      litellm_settings: {
        cache: isOn(simple) || isOn(semantic),
        cache_params: {
          type: isOn(semantic) ? 'semantic' : 'exact',
          // 0 is the default of exact matches, and no expiry of semantic ones.
          ttl: Math.min(
            isOn(simple) ? asNumber(asObject(asObject(simple).redis).ttl) || DEFAULT_TTL_SECONDS : Infinity,
            isOn(semantic) ? (asNumber(asObject(semantic).ttl) ?? DEFAULT_TTL_SECONDS) || Infinity : Infinity,
          ),
          similarity_threshold: asNumber(asObject(semantic).similarity_threshold) || null,
        },
      },
      router_settings: { timeout: asObject(sections.http).timeout ?? null },
      general_settings: {},
    },
  }
}

/** Splits `openai/gpt-4o`, `openai/*`, `openai/`, `gpt-4o` and `*`. */
function parseSelector(text: string): { provider: string | null; model: string | null } {
  if (text === '*' || text === '/') return { provider: null, model: null }
  const end = text.indexOf('/')
  const model = text.slice(end + 1)
  return { provider: end > 0 ? text.slice(0, end) : null, model: model === '' || model === '*' ? null : model }
}

function mayMatch(selector: string, target: Target): boolean {
  const { provider, model } = parseSelector(selector)
  return (
    selector === target.model ||
    ((provider === null || target.provider === null || provider === target.provider) &&
      (model === null || model === target.model))
  )
}

/** Returns whether a list of models certainly allows the target. */
export function allowsTarget(list: readonly string[], target: Target): boolean {
  return list.some(selector => {
    const { provider, model } = parseSelector(selector)
    return (provider === null || provider === target.provider) && (model === null || model === target.model)
  })
}

/** Returns the patterns here of the models that a list allows. A provider's vendor may have another name. */
export function patternsOf(list: readonly string[], vendors: ReadonlyMap<string, string>): string[] {
  return list.flatMap(selector => {
    const { provider, model } = parseSelector(selector)
    if (provider === null) return model === null ? ['*'] : [model, `*/${model}`]
    return [(vendors.get(`${provider}/*`) ?? `${provider}/*`).replace('*', model ?? '*')]
  })
}
