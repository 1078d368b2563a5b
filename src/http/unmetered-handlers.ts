/** Health, probes, and what is told of models and keys: without a body, free of charge, outside the monthly quota; all but probes limited by address. */
import { createError, invalidRequestError } from '../errors/errors.ts'
import type { KeyInfoReader } from '../pipeline/models/key-info.ts'
import type { CallerCredentials, ModelDirectory } from '../pipeline/models/model-directory.ts'
import type { RouteTarget } from '../pipeline/request/request.ts'
import { addressPrefix, type FastStore } from '../stores/fast-store.ts'
import { type ConnectionLimiter, type IncomingRequest, type Ingress, readAuthorization } from './ingress.ts'
import { parseUrl } from './paths.ts'
import { closeIfBodyUnread } from './read-body.ts'
import type { Probe, Readiness } from './readiness.ts'
import { respondWithJson } from './respond.ts'

type Told = Extract<RouteTarget, { kind: 'told' }>['about']

export interface UnmeteredHandlersOptions {
  models: ModelDirectory
  keyInfo: KeyInfoReader
  readiness: Readiness
  connections: ConnectionLimiter
  addressLimits: AddressRateLimits
}

export interface UnmeteredHandlers {
  /** The models that a key can use. `escaped` is one model's name as in the path; null for all. */
  handleModels(incoming: IncomingRequest, escaped: string | null): Promise<Response>
  /** In OpenRouter's form, or in LiteLLM's. */
  handleInfo(incoming: IncomingRequest, about: Told): Promise<Response>
  handleHealth(incoming: IncomingRequest): Promise<Response>
  handleProbe(incoming: IncomingRequest, probe: Probe): Promise<Response>
}

export function createUnmeteredHandlers(
  { models, keyInfo, readiness, connections, addressLimits }: UnmeteredHandlersOptions,
  entrance: Ingress,
): UnmeteredHandlers {
  async function answer(
    incoming: IncomingRequest,
    target: RouteTarget,
    make: (address: string) => Promise<Made>,
  ): Promise<Response> {
    const arrival = entrance.createContext(incoming.request)
    const response = await make(entrance.clientAddressOf(incoming)).then(
      ({ value, status }) => respondWithJson(value, arrival, status),
      error => entrance.respondToError(error, incoming, arrival),
    )
    entrance.countUnrecorded(target, response.status)
    return closeIfBodyUnread(incoming.request, response)
  }

  /** Each one asks the database whether the key is good. */
  async function enter({ request, server }: IncomingRequest, address: string): Promise<CallerCredentials> {
    if (server) connections.check(server)
    await addressLimits.limitModelRequests(address)
    return { authorization: readAuthorization(request.headers), address }
  }

  return {
    handleModels: (incoming, escaped) =>
      answer(incoming, { kind: 'models', id: escaped }, async address => {
        const id = escaped === null ? null : decodeModelId(escaped)
        const caller = await enter(incoming, address)
        return { value: id === null ? await models.list(caller) : await models.find(caller, id) }
      }),
    handleInfo: (incoming, about) =>
      answer(incoming, { kind: 'told', about }, async address => {
        const caller = await enter(incoming, address)
        if (about !== 'model/info') return { value: await keyInfo[about === 'key' ? 'readKey' : 'readCredits'](caller) }
        return {
          value: await models.describeModels(caller, parseUrl(incoming.request).searchParams.get('litellm_model_id')),
        }
      }),
    handleHealth: incoming =>
      answer(incoming, { kind: 'health' }, async address => {
        await addressLimits.limitHealthRequests(address)
        const health = await readiness.checkHealth()
        return { value: health, status: health.status === 'down' ? 503 : 200 }
      }),
    handleProbe: (incoming, probe) => answer(incoming, { kind: 'probe', probe }, () => readiness.probe(probe)),
  }
}

interface Made {
  /** Written as JSON. */
  value: unknown
  status?: number
}

function decodeModelId(escaped: string): string {
  try {
    return decodeURIComponent(escaped)
  } catch {
    throw invalidRequestError(
      'The model in the path is not valid: its percent signs must begin an escaped UTF-8 character.',
    )
  }
}

/** Load balancers and monitors ask often, and the result is computed once a second only. */
const HEALTH_PER_MINUTE = 1_200
/** By keys that the database must be asked about. */
const MODELS_PER_MINUTE = 300

/** Rate limits by client address, per process: these endpoints have no quota. */
export interface AddressRateLimits {
  /** Throws a 429 when the address has asked too often. Independent of keys and their limits. */
  limitHealthRequests(address: string): Promise<void>
  limitModelRequests(address: string): Promise<void>
}

/** `store` is this process's own, so that health is reported even when Redis hangs. */
export function createAddressRateLimits(store: Pick<FastStore, 'count'>): AddressRateLimits {
  async function pass(kind: string, address: string, limit: number): Promise<void> {
    const windows = [{ name: `${kind}:${addressPrefix(address)}`, limit }]
    const { granted, waitMs } = await store.count({ requests: 1, windows, entries: [] })
    if (granted === 0) throw createError('edgeRateLimited', { seconds: Math.max(1, Math.ceil(waitMs / 1000)) })
  }
  return {
    limitHealthRequests: address => pass('health', address, HEALTH_PER_MINUTE),
    limitModelRequests: address => pass('models', address, MODELS_PER_MINUTE),
  }
}
