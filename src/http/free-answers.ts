/** Health, probes, and what is told of models and keys: without a body, free of charge, outside the monthly quota; all but probes limited by address. */
import { invalidRequest, refuse } from '../errors/errors.ts'
import type { Caller, ModelDirectory } from '../pipeline/model-directory.ts'
import type { Target } from '../pipeline/request.ts'
import type { AccountTeller } from '../pipeline/tell-account.ts'
import { addressPrefix, type FastStore } from '../stores/fast-store.ts'
import { type ConnectionRoom, type Entrance, type Incoming, readAuthorization } from './incoming.ts'
import { urlOf } from './paths.ts'
import { leaveBody } from './read-body.ts'
import type { Probe, Readiness } from './readiness.ts'
import { respondWithJson } from './respond.ts'

type Told = Extract<Target, { kind: 'told' }>['about']

export interface FreeAnswersOptions {
  models: ModelDirectory
  accounts: AccountTeller
  readiness: Readiness
  connections: ConnectionRoom
  edge: EdgeWindows
}

export interface FreeAnswers {
  /** The models that a key can use. `escaped` is one model's name as in the path; null for all. */
  answerModels(incoming: Incoming, escaped: string | null): Promise<Response>
  /** In OpenRouter's form, or in LiteLLM's. */
  answerTold(incoming: Incoming, about: Told): Promise<Response>
  answerHealth(incoming: Incoming): Promise<Response>
  answerProbe(incoming: Incoming, probe: Probe): Promise<Response>
}

export function createFreeAnswers(
  { models, accounts, readiness, connections, edge }: FreeAnswersOptions,
  entrance: Entrance,
): FreeAnswers {
  async function answer(
    incoming: Incoming,
    target: Target,
    make: (address: string) => Promise<Made>,
  ): Promise<Response> {
    const arrival = entrance.arrive(incoming.request)
    const response = await make(entrance.addressOf(incoming)).then(
      ({ value, status }) => respondWithJson(value, arrival, status),
      error => entrance.fail(error, incoming, arrival),
    )
    entrance.noteUnrecorded(target, response.status)
    return leaveBody(incoming.request, response)
  }

  /** Each one asks the database whether the key is good. */
  async function enter({ request, server }: Incoming, address: string): Promise<Caller> {
    if (server) connections.check(server)
    await edge.passModels(address)
    return { authorization: readAuthorization(request.headers), address }
  }

  return {
    answerModels: (incoming, escaped) =>
      answer(incoming, { kind: 'models', id: escaped }, async address => {
        const id = escaped === null ? null : decodeModelId(escaped)
        const caller = await enter(incoming, address)
        return { value: id === null ? await models.list(caller) : await models.find(caller, id) }
      }),
    answerTold: (incoming, about) =>
      answer(incoming, { kind: 'told', about }, async address => {
        const caller = await enter(incoming, address)
        if (about !== 'model/info') return { value: await accounts[about](caller) }
        return { value: await models.inform(caller, urlOf(incoming.request).searchParams.get('litellm_model_id')) }
      }),
    answerHealth: incoming =>
      answer(incoming, { kind: 'health' }, async address => {
        await edge.passHealth(address)
        const health = await readiness.checkHealth()
        return { value: health, status: health.status === 'down' ? 503 : 200 }
      }),
    answerProbe: (incoming, probe) => answer(incoming, { kind: 'probe', probe }, () => readiness.probe(probe)),
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
    throw invalidRequest('The model in the path is not valid: its percent signs must begin an escaped UTF-8 character.')
  }
}

/** Load balancers and monitors ask often, and the result is computed once a second only. */
const HEALTH_PER_MINUTE = 1_200
/** By keys that the database must be asked about. */
const MODELS_PER_MINUTE = 300

/** Rate limits by client address, per process: these endpoints have no quota. */
export interface EdgeWindows {
  /** Throws a 429 when the address has asked too often. Independent of keys and their limits. */
  passHealth(address: string): Promise<void>
  passModels(address: string): Promise<void>
}

/** `store` is this process's own, so that health is reported even when Redis hangs. */
export function createEdgeWindows(store: Pick<FastStore, 'count'>): EdgeWindows {
  async function pass(kind: string, address: string, limit: number): Promise<void> {
    const windows = [{ name: `${kind}:${addressPrefix(address)}`, limit }]
    const { granted, waitMs } = await store.count({ requests: 1, windows, entries: [] })
    if (granted === 0) throw refuse('edgeRateLimited', { seconds: Math.max(1, Math.ceil(waitMs / 1000)) })
  }
  return {
    passHealth: address => pass('health', address, HEALTH_PER_MINUTE),
    passModels: address => pass('models', address, MODELS_PER_MINUTE),
  }
}
