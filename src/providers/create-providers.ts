/** Assembles providers: wire format, translations, retries, and a circuit for each key. */

import { LRUCache } from 'lru-cache'
import { type AggregatorModelNames, createAggregatorModelNames } from '../catalogue/aggregator-model-names.ts'
import { AGGREGATOR, type Catalogue } from '../catalogue/catalogue.ts'
import { fetchModelNames } from '../catalogue/fetch-aggregator-models.ts'
import type { Config } from '../config/config.ts'
import { mapVendors, type Vendor } from '../config/vendors.ts'
import { nowMs } from '../event-loop/clock.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { errorMessageOf } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import { createAnthropicProvider } from './anthropic/create-anthropic-provider.ts'
import { createConnectionProbe } from './call-upstream.ts'
import { type CircuitBreakers, type CircuitBreakersOptions, createCircuitBreakers } from './circuit-breakers.ts'
import { createDirectProviders, NATIVE_ENDPOINTS } from './direct-providers.ts'
import { readEncryptionKeys } from './keys/encryption-key.ts'
import { createExtrasKeyDerivation } from './keys/extras-keys.ts'
import { createVault, decryptStoredKey } from './keys/vault.ts'
import type { ModelRouterOptions } from './model-router.ts'
import { createOpenAiCompatibleProvider } from './openai-compatible.ts'
import { createOperatorKeyGuard } from './operator-key.ts'
import { createChatTargetResolver, withTranslations } from './translations/with-translations.ts'
import type { Endpoint, Provider } from './upstream.ts'
import { withResponseCheck } from './with-response-check.ts'
import { withRetries } from './with-retries.ts'

export interface ProvidersOptions {
  config: Config
  database: Database
  catalogue: Catalogue
  log: Log
}

export interface Providers extends Pick<ModelRouterOptions, 'aggregatorFor' | 'directProviderFor' | 'modelNames'> {
  circuits: CircuitBreakers
  close(): void
}

const VENDOR = mapVendors(vendor => vendor)
const MAX_PROJECTS = 10_000
/** By AGGREGATOR_SPEAKS. */
const SPOKEN: Record<Config['aggregator']['speaks'], readonly Endpoint[]> = {
  chat: [],
  responses: ['responses'],
  messages: ['messages'],
  all: ['responses', 'messages'],
}

export function createProviders({ config, database, catalogue, log }: ProvidersOptions): Providers {
  const { maxRetries, circuitFailures, circuitOpenMs, ...limits } = config.upstream
  const circuits = createCircuitBreakers({
    failures: circuitFailures,
    openMs: circuitOpenMs,
    log,
    onOpen: tellOpened(database, log),
  })
  const probe = createConnectionProbe()
  const readKeys = () => readEncryptionKeys(config)
  const vault = createVault(readKeys)
  const extrasKeys = createExtrasKeyDerivation(readKeys, () => callFunction(database, 'installation_id', {}))

  const retry = (provider: Provider) => withRetries(provider, { maxRetries })

  /** `has`: the operations that it supports natively, without translation to chat. */
  function translating(provider: Provider, has: readonly Endpoint[]): Provider {
    const targetOf = createChatTargetResolver(catalogue, provider.pricedAs)
    return withResponseCheck(withTranslations(provider, { nativeEndpoints: has, resolveTarget: targetOf, extrasKeys }))
  }

  const direct = createDirectProviders({
    decryptKey: (owner, name) => decryptStoredKey(database, vault, owner, name),
    protect: (provider, { projectId }, key) => circuits.protect(provider, projectId, key),
    retry,
    onKeyCooldown: ({ projectId, provider }, key, status, restMs) =>
      log.warn({ provider, project: projectId, key, status, restMs }, 'a provider key rests'),
    connect(name, apiKey, projectId) {
      const { baseUrl } = config.direct[name]
      const { title, endpoints, passes, format, output_limits: outputLimits } = VENDOR[name]
      const named = { name, kind: name, pricedAs: name, title, endpoints, passThroughPaths: passes }
      const options = { ...named, projectId, baseUrl, apiKey, limits, probe }
      const maxOutputTokensOf = (model: string) => catalogue.find(name, model)?.maxOutputTokens ?? null
      const formats: Record<Vendor['format'], () => Provider> = {
        openai: () => createOpenAiCompatibleProvider({ ...options, outputLimits, isOpenAi: name === 'openai' }),
        anthropic: () => createAnthropicProvider({ ...options, maxOutputTokensOf }),
      }
      return translating(formats[format](), NATIVE_ENDPOINTS[name])
    },
  })

  return {
    directProviderFor: direct.resolve,
    aggregatorFor: createAggregator(),
    modelNames: offerNames(config.aggregator, log),
    circuits,
    close: direct.close,
  }

  /** All projects share one key but not one circuit: a model that fails for one project must not block another. */
  function createAggregator(): ModelRouterOptions['aggregatorFor'] {
    const {
      name,
      baseUrl,
      apiKey,
      isConfigured,
      speaks,
      isOpenRouter: enforcesMaxPrice,
      outputLimits,
    } = config.aggregator
    if (!isConfigured) return null
    const has = SPOKEN[speaks]
    const at = {
      baseUrl,
      apiKey,
      limits,
      probe,
      outputLimits,
      enforcesMaxPrice,
      storesResponses: has.includes('responses'),
    }
    const shared = { ...at, name, kind: AGGREGATOR, pricedAs: AGGREGATOR } as const
    const guard = createOperatorKeyGuard({ setting: 'AGGREGATOR_API_KEY', isSet: apiKey !== null, log })
    const byProject = new LRUCache<number, Provider>({ max: MAX_PROJECTS })
    return projectId => {
      const known = byProject.get(projectId)
      if (known) return known
      // Outside the circuit, because a refused key says nothing about the upstream's health.
      const provider = guard(
        retry(circuits.protect(translating(createOpenAiCompatibleProvider({ ...shared, projectId }), has), projectId)),
      )
      byProject.set(projectId, provider)
      return provider
    }
  }
}

/** Where no key is wanted, the list costs nothing, and is read before it is needed: test keys may then use its names, too. */
function offerNames(aggregator: Config['aggregator'], log: Log): AggregatorModelNames {
  const isKeyless = aggregator.isConfigured && aggregator.apiKey === null
  const offered = createAggregatorModelNames({
    forwardsUnlistedNames: isKeyless,
    fetchNames: () => fetchModelNames(aggregator),
    onFailed: error => log.info({ reason: errorMessageOf(error) }, 'the aggregator’s own list of models is not known'),
  })
  if (isKeyless) void offered.refresh()
  return offered
}

const ONCE_IN_MS = 600_000

/** Raises an event in the project: for one provider once in ten minutes, over all processes. */
function tellOpened(database: Database, log: Log): NonNullable<CircuitBreakersOptions['onOpen']> {
  return (provider, projectId, waitMs) => {
    const once = `${provider}:${Math.floor(nowMs() / ONCE_IN_MS)}`
    const payload = { provider, wait_ms: waitMs }
    callFunction(database, 'raise_event', { of_project: projectId, kind: 'circuit.opened', payload, once }).catch(
      error =>
        log.failures.report('events', error, 'an event could not be raised', { part: 'circuit', fields: { provider } }),
    )
  }
}
