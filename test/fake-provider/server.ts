/** A local HTTP server that acts as a paid OpenAI-compatible provider. */

import type { ServerResponse } from 'node:http'
import { checkToolOrder } from './check-tool-order.ts'
import type { RecordedRequest } from './recording.ts'
import { respond } from './respond.ts'
import type { Flavour, Scenario } from './scenario.ts'
import {
  createScriptedServer,
  type ScriptedServer,
  type ScriptedServerOptions,
  type ScriptOf,
} from './scripted-server.ts'
import { createFakeObjects } from './stored-objects.ts'

/** The key of an aggregator in the settings of a proxy. */
export const AGGREGATOR_KEY = 'sk-aggregator-key'

export interface FakeProviderOptions extends ScriptedServerOptions {
  /** By default `openai`. */
  flavour?: Flavour
  /** Requests with another key get a 401. By default each key is valid, and so is a request without one. */
  apiKey?: string
  /** Rejects requests before any script, also those for the list of models. By default none. */
  reject?: (request: RecordedRequest) => Scenario | null
}

export type Script = ScriptOf<Scenario>

export interface FakeProvider extends ScriptedServer<Scenario> {
  /** Ends in `/v1`, without a trailing slash. */
  baseUrl: string
  /** Settings of a proxy that has this server as its aggregator. */
  environment: Record<string, string>
}

/** Starts the server on 127.0.0.1. */
export async function startFakeProvider(options: FakeProviderOptions = {}): Promise<FakeProvider> {
  const { flavour = 'openai' } = options
  const { server, record, choose, listen } = createScriptedServer<Scenario>(options)
  const kept = createFakeObjects(flavour)
  let serial = 0

  async function chooseScenario(request: RecordedRequest): Promise<Scenario> {
    if (options.apiKey !== undefined && request.headers.authorization !== `Bearer ${options.apiKey}`) {
      return { kind: 'error', status: 401 }
    }
    return checkToolOrder(request) ?? (await choose(request)) ?? { kind: 'answer' }
  }

  async function answer(request: RecordedRequest, response: ServerResponse): Promise<void> {
    const rejection = options.reject?.(request) ?? null
    if (isList(request) && rejection === null) {
      const listing = { request, response, flavour, serial: ++serial, onCut() {}, kept }
      return respond(listing, { kind: 'answer' })
    }
    const onCut = record(request, response)
    const exchange = { request, response, flavour, serial: ++serial, onCut, kept }
    await respond(exchange, rejection ?? (await chooseScenario(request))).catch(error => {
      // A field has a type from which no response can be built. Vendors reject such a request.
      if (response.headersSent || !(error instanceof TypeError || error instanceof RangeError)) throw error
      return respond(exchange, { kind: 'error', status: 400 })
    })
  }

  const address = await listen((request, response) => {
    // A script can throw on a request that it does not expect.
    if (!control(server, request, response)) answer(request, response).catch(() => response.destroy())
  })
  const baseUrl = `${address}/v1`
  const environment = { AGGREGATOR_BASE_URL: baseUrl, AGGREGATOR_API_KEY: options.apiKey ?? AGGREGATOR_KEY }
  return Object.assign(server, { baseUrl, environment })
}

/** The proxy itself reads the list of models, so scripts and counts exclude it. */
function isList({ method, path }: RecordedRequest): boolean {
  return method === 'GET' && path.endsWith('/models')
}

/** Requests of other processes to the server itself: `GET /__counts`, `PUT /__script` with a scenario, `DELETE /__script`. */
function control(server: ScriptedServer<Scenario>, request: RecordedRequest, response: ServerResponse): boolean {
  if (request.path === '/__counts') {
    response.end(JSON.stringify({ ...server.counts, openConnections: server.openConnections }))
  } else if (request.path === '/__script') {
    if (request.method === 'PUT') server.script(request.body as Scenario)
    else server.reset()
    response.end()
  } else return false
  return true
}
