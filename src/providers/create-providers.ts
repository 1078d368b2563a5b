/** Assembles providers: wire format, translations, retries, and circuits for each key and its models. */

import { LRUCache } from 'lru-cache'
import { type AggregatorModelNames, createAggregatorModelNames } from '../catalogue/aggregator-model-names.ts'
import { AGGREGATOR, type Catalogue } from '../catalogue/catalogue.ts'
import { fetchAggregatorModelNames } from '../catalogue/fetch-aggregator-models.ts'
import type { Config } from '../config/config.ts'
import type { TurnRule } from '../config/vendors.ts'
import { apiKeyVariableOf, baseUrlVariableOf, type Vendor } from '../config/vendors.ts'
import { createError } from '../errors/errors.ts'
import { nowMs } from '../event-loop/clock.ts'
import type { Endpoint } from '../formats/endpoint.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { errorMessageOf } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import { createAnthropicProvider } from './anthropic/create-anthropic-provider.ts'
import { withAttempts } from './attempts.ts'
import { type CircuitBreakers, type CircuitBreakersOptions, createCircuitBreakers } from './circuit-breakers.ts'
import { createConnectionProbe } from './connection-probe.ts'
import { createDirectProviders } from './direct-providers.ts'
import { AGGREGATOR_HEADERS } from './forwarded-headers.ts'
import { clientHeadersOf, nativeEndpointsOf } from './keyed-providers.ts'
import { createExtrasKeyDerivation, readEncryptionKeys } from './keys/encryption-key.ts'
import { createInstallationKeys } from './keys/installation-keys.ts'
import { createVault, decryptStoredKey } from './keys/vault.ts'
import type { ModelRouterOptions } from './model-router.ts'
import { createOpenAiCompatibleProvider } from './openai-compatible.ts'
import { createOperatorKeyGuard } from './operator-key.ts'
import type { ProviderOptions } from './send-request.ts'
import { createChatTargetResolver, withTranslations } from './translations/with-translations.ts'
import type { Provider } from './upstream.ts'
import type { VendorConnection } from './vendor-connection.ts'
import { withResponseCheck } from './with-response-check.ts'
import { withRetries } from './with-retries.ts'

export interface ProvidersOptions {
  config: Config
  database: Database
  catalogue: Catalogue
  log: Log
  /** The upper bound on the first wait before a retry; a quarter of a second by default. */
  retryWaitMs?: number | undefined
}

export interface Providers extends Pick<ModelRouterOptions, 'aggregatorFor' | 'directProviderFor' | 'modelNames'> {
  circuits: CircuitBreakers
  close(): void
}

/** The number of projects whose aggregator provider is cached. */
const MAX_PROJECTS = 10_000
/** The aggregator's native endpoints besides chat, by the value of AGGREGATOR_SPEAKS. */
const AGGREGATOR_ENDPOINTS: Record<Config['aggregator']['speaks'], readonly Endpoint[]> = {
  chat: [],
  responses: ['responses'],
  messages: ['messages'],
  all: ['responses', 'messages'],
}

export function createProviders({ config, database, catalogue, log, retryWaitMs }: ProvidersOptions): Providers {
  const { maxRetries, circuitFailures, circuitOpenMs, ...limits } = config.upstream
  const circuits = createCircuitBreakers({
    failures: circuitFailures,
    openMs: circuitOpenMs,
    log,
    isPublicModel: ({ pricedAs }, model) => catalogue.find(pricedAs, model)?.model === model,
    onOpen: createCircuitEvents(database, log),
  })
  const probe = createConnectionProbe()
  const readKeys = () => readEncryptionKeys(config)
  const vault = createVault(readKeys)
  const extrasKeys = createExtrasKeyDerivation(readKeys, () => callFunction(database, 'installation_id', {}))

  const retry = (provider: Provider) => withRetries(provider, { maxRetries, firstWaitMs: retryWaitMs })

  /** `nativeEndpoints` are those that the provider supports without translation to chat. */
  function translate(provider: Provider, nativeEndpoints: readonly Endpoint[]): Provider {
    const resolveTarget = createChatTargetResolver(catalogue, provider.pricedAs)
    const rulesOf = (model: string) => (provider.kind === undefined ? [] : turnRulesOf(catalogue, provider.kind, model))
    const options = { nativeEndpoints, resolveTarget, extrasKeys, turnRulesOf: rulesOf }
    return withResponseCheck(withTranslations(provider, options), limits)
  }

  const direct = createDirectProviders({
    findVendor: name => catalogue.vendors.find(name),
    decryptKey: (owner, name) => decryptStoredKey(database, vault, owner, name),
    protect: (provider, { projectId }, key) => circuits.protect(provider, projectId, key),
    retry,
    onKeyCooldown: ({ projectId, provider }, key, status, restMs) =>
      log.warn({ provider, project: projectId, key, status, restMs }, 'a provider key was rejected and cools down'),
    installationKeys: createInstallationKeys({ settings: config.vendors, database, vault }),
    guard: createVendorGuard(log),
    connect(vendor, { isShared, ...access }) {
      const { name } = vendor
      const connection = { ...connectionOf(vendor), clientHeaders: clientHeadersOf(vendor, isShared), isShared }
      const named = { name, kind: name, pricedAs: name, title: vendor.title, passThroughPaths: vendor.passes }
      const options = { ...named, ...connection, ...access, modelsPath: vendor.models_path, limits, probe }
      const formats: Record<Vendor['format'], () => Provider> = {
        openai: () =>
          createOpenAiCompatibleProvider({
            ...options,
            endpoints: vendor.endpoints,
            outputLimits: vendor.output_limits,
            acceptsStreamOptions: vendor.accepts_stream_options,
            isOpenAi: name === 'openai' && !isShared,
          }),
        anthropic: () =>
          createAnthropicProvider({
            ...options,
            maxOutputTokensOf: model => catalogue.find(name, model)?.maxOutputTokens ?? null,
          }),
      }
      return translate(formats[vendor.format](), nativeEndpointsOf(vendor))
    },
  })

  return {
    directProviderFor: direct.resolve,
    aggregatorFor: createAggregator(config.aggregator, {
      connection: { limits, probe },
      wrap: (provider, nativeEndpoints, projectId) =>
        retry(withAttempts(circuits.protect(translate(provider, nativeEndpoints), projectId), null)),
      log,
    }),
    modelNames: createModelNames(config.aggregator, log),
    circuits,
    close: direct.close,
  }
}

/** Returns a function that hides rejections of the installation's keys, with one guard for each vendor. */
function createVendorGuard(log: Log): (vendor: Vendor, provider: Provider) => Provider {
  const guards = new Map<string, (provider: Provider) => Provider>()
  return ({ name, shared_access }, provider) => {
    const isSet = shared_access !== 'keyless'
    const guard =
      guards.get(`${name} ${isSet}`) ?? createOperatorKeyGuard({ setting: apiKeyVariableOf(name), isSet, log })
    guards.set(`${name} ${isSet}`, guard)
    return guard(provider)
  }
}

/** Throws a 503 for a vendor without a base URL. */
function connectionOf(vendor: Vendor): Omit<VendorConnection, 'apiKey'> {
  const { name, title, base_url: baseUrl, key_location, query_parameters, sent_headers, path_template } = vendor
  if (baseUrl === null) throw createError('vendorAddressMissing', { title, name, setting: baseUrlVariableOf(name) })
  return {
    baseUrl,
    ...(key_location !== null && { keyLocation: key_location }),
    queryParameters: query_parameters,
    sentHeaders: sent_headers,
    pathTemplate: path_template,
  }
}

interface AggregatorOptions {
  connection: Pick<ProviderOptions, 'limits' | 'probe'>
  /** Adds translations, a circuit for the project, and retries. */
  wrap(provider: Provider, nativeEndpoints: readonly Endpoint[], projectId: number): Provider
  log: Log
}

/**
 * Returns the aggregator for each project; null when none is configured. All projects share one key but not one circuit: a model that fails
 * for one project must not block another project.
 */
function createAggregator(
  { name, baseUrl, apiKey, isConfigured, speaks, isOpenRouter, outputLimits }: Config['aggregator'],
  { connection, wrap, log }: AggregatorOptions,
): ModelRouterOptions['aggregatorFor'] {
  if (!isConfigured) return null
  const nativeEndpoints = AGGREGATOR_ENDPOINTS[speaks]
  const shared = {
    ...connection,
    name,
    kind: AGGREGATOR,
    isShared: true,
    clientHeaders: AGGREGATOR_HEADERS,
    pricedAs: AGGREGATOR,
    baseUrl,
    apiKey,
    outputLimits,
    enforcesMaxPrice: isOpenRouter,
    storesResponses: nativeEndpoints.includes('responses'),
  } as const
  const guard = createOperatorKeyGuard({ setting: 'AGGREGATOR_API_KEY', isSet: apiKey !== null, log })
  const byProject = new LRUCache<number, Provider>({ max: MAX_PROJECTS })
  return projectId => {
    const cached = byProject.get(projectId)
    if (cached) return cached
    // The guard is outside the circuit, because a rejected key says nothing about the upstream's health.
    const provider = guard(wrap(createOpenAiCompatibleProvider({ ...shared, projectId }), nativeEndpoints, projectId))
    byProject.set(projectId, provider)
    return provider
  }
}

/**
 * Returns the aggregator's own list of models. An aggregator that needs no key is free to list, so its list is read at the start: test keys may
 * then use its names, too.
 */
function createModelNames(aggregator: Config['aggregator'], log: Log): AggregatorModelNames {
  const isKeyless = aggregator.isConfigured && aggregator.apiKey === null
  const modelNames = createAggregatorModelNames({
    forwardsUnlistedNames: isKeyless,
    fetchNames: () => fetchAggregatorModelNames(aggregator),
    onFailed: error =>
      log.info({ reason: errorMessageOf(error) }, 'the aggregator’s own list of models could not be read'),
  })
  if (isKeyless) void modelNames.refresh()
  return modelNames
}

const EVENT_INTERVAL_MS = 600_000

/** Raises the event `circuit.opened` in the project, once in ten minutes for each provider, over all processes. */
function createCircuitEvents(database: Database, log: Log): NonNullable<CircuitBreakersOptions['onOpen']> {
  return (provider, projectId, waitMs) => {
    const once = `${provider}:${Math.floor(nowMs() / EVENT_INTERVAL_MS)}`
    const payload = { provider, wait_ms: waitMs }
    callFunction(database, 'raise_event', { of_project: projectId, kind: 'circuit.opened', payload, once }).catch(
      error =>
        log.failures.report('events', error, 'an event could not be raised', { part: 'circuit', fields: { provider } }),
    )
  }
}

/** Vendors whose models have another prefix at aggregators than the vendor's name. */
const VENDOR_OF_PREFIX = new Map([
  ['google', 'gemini'],
  ['mistralai', 'mistral'],
])

/** Google requires signatures from Gemini 3 on. */
const UNSIGNED_GEMINI = /gemini-[12](?![0-9])/

/** Returns what a model requires of assistant messages that another model created: the rules of the vendor, and of the vendor whose prefix the model has at an aggregator. */
function turnRulesOf({ vendors }: Pick<Catalogue, 'vendors'>, vendor: string, model: string): TurnRule[] {
  const prefix = model.includes('/') ? model.slice(0, model.indexOf('/')) : vendor
  const names = new Set([vendor, VENDOR_OF_PREFIX.get(prefix) ?? prefix])
  const rules = [...names].flatMap(name => vendors.find(name)?.turn_rules ?? [])
  return rules.filter(rule => rule !== 'google_signatures' || !UNSIGNED_GEMINI.test(model))
}
