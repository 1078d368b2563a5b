/** Handles health, probes, models and key information. These requests have no body and do not count in quotas; all but probes are limited by address. */
import { createError, invalidRequestError } from '../errors/errors.ts'
import type { KeyInfoReader } from '../pipeline/models/key-info.ts'
import type { CallerCredentials, ModelDirectory } from '../pipeline/models/model-directory.ts'
import type { RouteTarget } from '../pipeline/request/request.ts'
import { addressPrefix, type FastStore } from '../stores/fast-store.ts'
import { writeGeminiModels } from './gemini-api.ts'
import type { Probe, Readiness } from './health.ts'
import { type ConnectionLimiter, type IncomingRequest, type Ingress, readAuthorization } from './ingress.ts'
import { parseUrl } from './paths.ts'
import { closeIfBodyUnread } from './read-body.ts'
import { detectApiForm, respondWithJson } from './respond.ts'

type AccountInfo = Extract<RouteTarget, { kind: 'info' }>['about']

export interface UnmeteredHandlersOptions {
  models: ModelDirectory
  keyInfo: KeyInfoReader
  readiness: Readiness
  connections: ConnectionLimiter
  addressLimits: AddressRateLimits
}

export function createUnmeteredHandlers(
  { models, keyInfo, readiness, connections, addressLimits }: UnmeteredHandlersOptions,
  ingress: Ingress,
) {
  async function respond(
    incoming: IncomingRequest,
    target: RouteTarget,
    createResult: (address: string) => Promise<HandlerResult>,
  ): Promise<Response> {
    const context = ingress.createContext(incoming.request)
    const response = await createResult(ingress.clientAddressOf(incoming)).then(
      ({ value, status }) => respondWithJson(value, context, status),
      error => ingress.respondToError(error, incoming, context),
    )
    ingress.countUnrecorded(target, response.status)
    return closeIfBodyUnread(incoming.request, response)
  }

  /** Applies the limits to a request that needs a database query to check its key. */
  async function admitCaller({ request, server }: IncomingRequest, address: string): Promise<CallerCredentials> {
    if (server) connections.check(server)
    await addressLimits.limitModelRequests(address)
    return { authorization: readAuthorization(request), address }
  }

  return {
    /** Returns the models that a key can use. `escaped` is one model's name as in the path; null for all. */
    handleModels: (incoming: IncomingRequest, escaped: string | null) =>
      respond(incoming, { kind: 'models', id: escaped }, async address => {
        const id = escaped === null ? null : decodeModelId(escaped)
        const caller = await admitCaller(incoming, address)
        const found = id === null ? await models.list(caller) : await models.find(caller, id)
        return { value: detectApiForm(incoming.request) === 'google' ? writeGeminiModels(found) : found }
      }),
    /** Returns information about the key, its credits or its models in the format of OpenRouter or LiteLLM. */
    handleInfo: (incoming: IncomingRequest, about: AccountInfo) =>
      respond(incoming, { kind: 'info', about }, async address => {
        const caller = await admitCaller(incoming, address)
        if (about !== 'model/info') return { value: await keyInfo[about === 'key' ? 'readKey' : 'readCredits'](caller) }
        return {
          value: await models.describeModels(caller, parseUrl(incoming.request).searchParams.get('litellm_model_id')),
        }
      }),
    handleHealth: (incoming: IncomingRequest) =>
      respond(incoming, { kind: 'health' }, async address => {
        await addressLimits.limitHealthRequests(address)
        const health = await readiness.checkHealth()
        return { value: health, status: health.status === 'down' ? 503 : 200 }
      }),
    handleProbe: (incoming: IncomingRequest, probe: Probe) =>
      respond(incoming, { kind: 'probe', probe }, () => readiness.probe(probe)),
  }
}

interface HandlerResult {
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

/** Load balancers and monitors send many requests, and the result is computed only once a second. */
const HEALTH_PER_MINUTE = 1_200
/** Limit for requests that need a database query to check their key. */
const MODELS_PER_MINUTE = 300

/** Rate limits by client address, per process: these endpoints have no quota. */
export interface AddressRateLimits {
  /** Throws a 429 when the address has sent too many requests. Independent of keys and their limits. */
  limitHealthRequests(address: string): Promise<void>
  limitModelRequests(address: string): Promise<void>
}

/** `store` is in this process, so that health is reported even when Redis hangs. */
export function createAddressRateLimits(store: Pick<FastStore, 'count'>): AddressRateLimits {
  async function limitRequests(kind: string, address: string, limit: number): Promise<void> {
    const windows = [{ name: `${kind}:${addressPrefix(address)}`, limit }]
    const { granted, waitMs } = await store.count({ requests: 1, windows, entries: [] })
    if (granted === 0) throw createError('edgeRateLimited', { seconds: Math.max(1, Math.ceil(waitMs / 1000)) })
  }
  return {
    limitHealthRequests: address => limitRequests('health', address, HEALTH_PER_MINUTE),
    limitModelRequests: address => limitRequests('models', address, MODELS_PER_MINUTE),
  }
}
