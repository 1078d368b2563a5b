/** Assembles providers: wire format, translations, retries, and a circuit for each key. */

import { LRUCache } from 'lru-cache'
import { AGGREGATOR, type Catalogue } from '../catalogue/catalogue.ts'
import { fetchModelNames } from '../catalogue/fetch-aggregator-models.ts'
import { createOfferedNames, type OfferedNames } from '../catalogue/offered-names.ts'
import type { Config } from '../config/config.ts'
import { byVendor, type Vendor } from '../config/vendors.ts'
import { nowMs } from '../event-loop/clock.ts'
import { call } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { reasonOf } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import { createAnthropicProvider } from './anthropic/create-anthropic-provider.ts'
import { createConnectionProbe } from './call-upstream.ts'
import { type CircuitOptions, type Circuits, createCircuits } from './circuits.ts'
import { createDirectProviders, DIRECT_HAS } from './direct-providers.ts'
import { readEncryptionKeys } from './keys/encryption-key.ts'
import { createExtrasKeys } from './keys/extras-keys.ts'
import { createVault, openStoredKey } from './keys/vault.ts'
import type { ModelRouterOptions } from './model-router.ts'
import { createOpenAiCompatibleProvider } from './openai-compatible.ts'
import { createOperatorKeyGuard } from './operator-key.ts'
import { chatTargets, withTranslations } from './translations/with-translations.ts'
import type { Endpoint, Provider } from './upstream.ts'
import { withReading } from './with-reading.ts'
import { withRetries } from './with-retries.ts'

export interface ReachOptions {
  config: Config
  database: Database
  catalogue: Catalogue
  log: Log
}

export interface ReachableProviders extends Pick<ModelRouterOptions, 'aggregatorFor' | 'directFor' | 'offered'> {
  circuits: Circuits
  close(): void
}

const VENDOR = byVendor(vendor => vendor)
const MAX_PROJECTS = 10_000
/** By AGGREGATOR_SPEAKS. */
const SPOKEN: Record<Config['aggregator']['speaks'], readonly Endpoint[]> = {
  chat: [],
  responses: ['responses'],
  messages: ['messages'],
  all: ['responses', 'messages'],
}

export function reachProviders({ config, database, catalogue, log }: ReachOptions): ReachableProviders {
  const { maxRetries, circuitFailures, circuitOpenMs, ...limits } = config.upstream
  const circuits = createCircuits({
    failures: circuitFailures,
    openMs: circuitOpenMs,
    log,
    onOpen: tellOpened(database, log),
  })
  const probe = createConnectionProbe()
  const readKeys = () => readEncryptionKeys(config)
  const vault = createVault(readKeys)
  const extrasKeys = createExtrasKeys(readKeys, () => call(database, 'installation_id', {}))

  const retry = (provider: Provider) => withRetries(provider, { maxRetries })

  /** `has`: the operations that it supports natively, without translation to chat. */
  function translating(provider: Provider, has: readonly Endpoint[]): Provider {
    const targetOf = chatTargets(catalogue, provider.pricedAs)
    return withReading(withTranslations(provider, { has, targetOf, extrasKeys }))
  }

  const direct = createDirectProviders({
    openKey: (owner, name) => openStoredKey(database, vault, owner, name),
    protect: (provider, { projectId }, key) => circuits.protect(provider, projectId, key),
    retry,
    onRest: ({ projectId, provider }, key, status, restMs) =>
      log.warn({ provider, project: projectId, key, status, restMs }, 'a provider key rests'),
    connect(name, apiKey, projectId) {
      const { baseUrl } = config.direct[name]
      const { title, endpoints, passes, format, output_limits: outputLimits } = VENDOR[name]
      const named = { name, kind: name, pricedAs: name, title, endpoints, passes }
      const options = { ...named, projectId, baseUrl, apiKey, limits, probe }
      const maxOutputTokensOf = (model: string) => catalogue.find(name, model)?.maxOutputTokens ?? null
      const formats: Record<Vendor['format'], () => Provider> = {
        openai: () => createOpenAiCompatibleProvider({ ...options, outputLimits, isOpenAi: name === 'openai' }),
        anthropic: () => createAnthropicProvider({ ...options, maxOutputTokensOf }),
      }
      return translating(formats[format](), DIRECT_HAS[name])
    },
  })

  return {
    directFor: direct.of,
    aggregatorFor: createAggregator(),
    offered: offerNames(config.aggregator, log),
    circuits,
    close: direct.close,
  }

  /** All projects share one key but not one circuit: a model that fails for one project must not block another. */
  function createAggregator(): ModelRouterOptions['aggregatorFor'] {
    const { name, baseUrl, apiKey, isSet, speaks, isOpenRouter: limitsPrices, outputLimits } = config.aggregator
    if (!isSet) return null
    const has = SPOKEN[speaks]
    const at = { baseUrl, apiKey, limits, probe, outputLimits, limitsPrices, keepsResponses: has.includes('responses') }
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
function offerNames(aggregator: Config['aggregator'], log: Log): OfferedNames {
  const isKeyless = aggregator.isSet && aggregator.apiKey === null
  const offered = createOfferedNames({
    keepsNames: isKeyless,
    fetchNames: () => fetchModelNames(aggregator),
    onFailed: error => log.info({ reason: reasonOf(error) }, 'the aggregator’s own list of models is not known'),
  })
  if (isKeyless) void offered.read()
  return offered
}

const ONCE_IN_MS = 600_000

/** Raises an event in the project: for one provider once in ten minutes, over all processes. */
function tellOpened(database: Database, log: Log): NonNullable<CircuitOptions['onOpen']> {
  return (provider, projectId, waitMs) => {
    const once = `${provider}:${Math.floor(nowMs() / ONCE_IN_MS)}`
    const payload = { provider, wait_ms: waitMs }
    call(database, 'raise_event', { of_project: projectId, kind: 'circuit.opened', payload, once }).catch(error =>
      log.failures.report('events', error, 'an event could not be raised', { part: 'circuit', fields: { provider } }),
    )
  }
}
