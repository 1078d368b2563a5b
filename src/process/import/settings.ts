/** The settings of config.yaml, in LiteLLM's form: those that become settings of projects, and the reasons why others have no counterpart. */
import { formatCommand } from '../../config/operator-command.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import type { LiteLlmConfig } from './litellm-source.ts'
import type { ModelPlan } from './models.ts'
import type { ImportReport } from './report.ts'
import { asList, asNumber, asObject, asText } from './source.ts'
import { isModelName } from './vendors.ts'

/** Settings that are used, or that need no counterpart, by name. An empty reason: used. */
const REASONS: Readonly<Record<string, string>> = {
  alerting: 'alerts are webhooks: the page Alerts, or docs/webhooks.md',
  alerting_threshold: 'the setting alert_latency_ms of each project',
  allowed_fails: 'UPSTREAM_CIRCUIT_FAILURES, for the installation',
  allowed_fails_policy: 'a circuit opens by the kind of failure itself',
  background_health_checks: 'a provider’s health is measured by requests; none are sent for it',
  cache: '',
  cache_params: '',
  callbacks: 'traces go to an OpenTelemetry collector: OTEL_EXPORTER_OTLP_ENDPOINT',
  content_policy_fallbacks: 'a refusal is a response, not a failure',
  context_window_fallbacks: 'a fallback is called when a model is unavailable, not when a request is too long for it',
  cooldown_time: 'UPSTREAM_CIRCUIT_OPEN_MS, for the installation',
  custom_auth: 'only keys authenticate; own checks of requests are a hook: docs/hooks.md',
  database_connection_pool_limit: 'DATABASE_MAX_CONNECTIONS',
  database_url: 'DATABASE_URL is another database than LiteLLM’s',
  default_fallbacks: '',
  default_team_settings: 'set log settings for each project',
  disable_spend_logs: 'every request is recorded, because budgets are checked against the records',
  drop_params: 'fields that a model does not support are handled for each vendor',
  enable_jwt_auth: 'only keys authenticate requests; people log in by OpenID Connect',
  enable_pre_call_checks: 'the provider rejects a request that is too long',
  failure_callback: 'traces go to an OpenTelemetry collector: OTEL_EXPORTER_OTLP_ENDPOINT',
  fallbacks: '',
  global_max_parallel_requests: 'concurrency is limited per key, by the plan',
  health_check_interval: 'a provider’s health is measured by requests; none are sent for it',
  master_key: `administrators have accounts: ${formatCommand('create-admin')}. Replace it in applications by keys`,
  max_budget: 'set the organization’s budget: scripts/set-budget.sql, or the page Budgets',
  budget_duration: 'set the organization’s budget: scripts/set-budget.sql, or the page Budgets',
  max_internal_user_budget: 'budgets belong to projects and keys',
  max_parallel_requests: 'concurrency is limited per key, by the plan',
  max_request_size_mb: 'MAX_BODY_BYTES',
  model_group_alias: '',
  num_retries: 'UPSTREAM_MAX_RETRIES, for the installation',
  ...{ redis_host: 'REDIS_URL', redis_password: 'REDIS_URL', redis_port: 'REDIS_URL', redis_url: 'REDIS_URL' },
  request_timeout: '',
  retry_policy: 'retries depend on the kind of failure: docs/providers.md',
  routing_strategy: 'an alias calls its first model, and the next one if that fails',
  routing_strategy_args: 'an alias calls its first model, and the next one if that fails',
  service_callbacks: 'metrics are at METRICS_PORT',
  set_verbose: 'LOG_LEVEL',
  json_logs: 'logs are always JSON',
  store_model_in_db: 'vendors and aliases are always in the database',
  store_prompts_in_spend_logs: 'the setting log_content of each project',
  stream_timeout: '',
  success_callback: 'traces go to an OpenTelemetry collector: OTEL_EXPORTER_OTLP_ENDPOINT',
  timeout: '',
  turn_off_message_logging: 'contents are only stored with the setting log_content',
  use_x_forwarded_for: 'TRUST_PROXY',
}
const CACHE_PARAMS = new Set(['type', 'ttl', 'mode', 'similarity_threshold'])
/** Ten years, the most that a project accepts. */
const MAX_TTL_SECONDS = 315_360_000

/** Returns the settings of every imported project, and reports those without a counterpart. */
export function planSettings(config: LiteLlmConfig, models: ModelPlan, report: ImportReport): JsonObject {
  const { litellm_settings: general, router_settings: router } = config.sections
  for (const [section, settings] of Object.entries(config.sections)) {
    for (const [name, value] of Object.entries(settings)) {
      const reason = REASONS[name]
      if (value !== null && reason !== '') report.omit(`${section}.${name}`, reason ?? 'not supported here')
    }
  }
  for (const section of config.otherSections) report.omit(section, 'not supported here')
  const defaults = asList(router.default_fallbacks ?? general.default_fallbacks).map(String)
  const fallbacks = [...new Set(defaults.flatMap(name => models.targets.get(name) ?? [name]))]
    .filter(isModelName)
    .slice(0, 5)
  const seconds = asNumber(router.timeout) ?? asNumber(general.request_timeout)
  const streamSeconds = asNumber(router.stream_timeout)
  const settings = {
    fallbacks,
    response_timeout_ms: formatDurations(seconds, models.timeouts.response),
    first_token_timeout_ms: formatDurations(streamSeconds, models.timeouts.firstToken),
    ...planCache(general, report),
  }
  for (const [name, value] of Object.entries(settings))
    if (!Array.isArray(value) || value.length > 0)
      report.add('setting', 'config.yaml', `${name} = ${String(value)}`, 'in every project')
  return settings
}

function formatDurations(seconds: number | null, byModel: ReadonlyMap<string, number>): string[] {
  const clamp = (ms: number) => Math.min(3_600_000, Math.max(1, Math.round(ms)))
  return [
    ...(seconds === null ? [] : [`${clamp(seconds * 1000)}`]),
    ...[...byModel].slice(0, 99).map(([model, ms]) => `${model}=${clamp(ms)}`),
  ]
}

/** Caching as it was at LiteLLM: off unless it was on, and semantic only if it was. */
function planCache({ cache, cache_params }: JsonObject, report: ImportReport): JsonObject {
  const params = asObject(cache_params)
  for (const name of Object.keys(params).filter(name => !CACHE_PARAMS.has(name)))
    report.omit(`cache_params.${name}`, 'responses are cached in REDIS_URL and the database, apart for each project')
  const isOn = cache === true && params.mode !== 'default_off'
  const isSemantic = /semantic/.test(asText(params.type) ?? '')
  const ttl = asNumber(params.ttl)
  const threshold = asNumber(params.similarity_threshold)
  return {
    cache_mode: isOn ? 'all' : 'off',
    semantic_mode: isOn && isSemantic ? 'on' : 'off',
    ...(ttl !== null && { cache_ttl_seconds: Math.min(MAX_TTL_SECONDS, Math.max(0, Math.round(ttl))) }),
    ...(isSemantic && threshold !== null && { semantic_threshold: Math.min(1, Math.max(0, threshold)) }),
  }
}
