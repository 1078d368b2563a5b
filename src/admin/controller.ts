/** The base of all controllers of the admin API: authentication, body limits, and errors in OpenAI's envelope. */

import { Elysia } from 'elysia'
import { createError, invalidRequestError, ProxyError } from '../errors/errors.ts'
import { msSince } from '../event-loop/clock.ts'
import { ResponseMemory } from '../event-loop/response-memory.ts'
import type { StreamMemory } from '../event-loop/stream-memory.ts'
import { decodeUtf8, parseJsonObject } from '../formats/json/canonical.ts'
import { measureJson } from '../formats/large-bodies/read-large-body.ts'
import { readRequestId, resolveClientAddress } from '../http/ingress.ts'
import { isHttps } from '../http/is-https.ts'
import { closeIfBodyUnread, createBodyReader } from '../http/read-body.ts'
import { type HttpRequestContext, respondWithError } from '../http/respond.ts'
import { streamBody } from '../http/stream-body.ts'
import { type Database, isPermissionDenied } from '../postgres/database.ts'
import type { QuestionVault } from '../providers/keys/question-vault.ts'
import type { Vault } from '../providers/keys/vault.ts'
import type { ModelRouter } from '../providers/model-router.ts'
import { addressPrefix } from '../stores/fast-store.ts'
import { describeCause, errorMessageOf } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import type { VerdictRecorder } from '../telemetry/proxy-metrics.ts'
import { isCountedRejection, type RejectionCounter } from '../telemetry/rejection-counter.ts'
import type { AddressConfig } from './addresses.ts'
import { readCaller } from './caller.ts'
import type { CredentialAttemptLimiter } from './credential-attempts.ts'
import { createJsonResponse } from './json-response.ts'
import type { AccountMails } from './mail/account-mails.ts'
import type { Mailer } from './mail/mailer.ts'
import type { OpenApiTag } from './parameters.ts'
import { type QueryShape, readQuery } from './query-string.ts'
import { toClientError } from './sql-errors.ts'

export interface AdminOptions {
  /** The database, over the connections of operators. */
  database: Database
  /** Seals provider keys. */
  vault: Vault
  /** Decrypts stored questions. */
  wordingReader: QuestionVault
  trustedProxies: number
  /** The settings from which the URLs of the dashboard and the proxy are derived. */
  addresses: AddressConfig
  /** Resolves a model to its provider. */
  modelRouter: Pick<ModelRouter, 'resolve' | 'listModels' | 'findModel'>
  allowsPrivateWebhooks: boolean
  /** Null if no mail is sent. */
  mailer: Mailer | null
  /** Null if invitations and password resets are not mailed. */
  accountMails: AccountMails | null
  credentialAttempts: CredentialAttemptLimiter
  /** Counts response bytes that clients have not read. */
  memory: StreamMemory
  rejections: RejectionCounter
  recordVerdict: VerdictRecorder
  log: Log
}

interface ServerWithAddresses {
  requestIP(request: Request): { address: string } | null
}

const UNAVAILABLE = 503
const MAX_BODY_BYTES = 65_536
const BODY_TIMEOUT_MS = 10_000
const createBodyRedactor = createBodyReader({ maxBodyBytes: MAX_BODY_BYTES, bodyTimeoutMs: BODY_TIMEOUT_MS })

export function readRequestAddress(
  request: Request,
  server: ServerWithAddresses | null,
  trustedProxies: number,
): string {
  const socketAddress = server?.requestIP(request)?.address ?? '127.0.0.1'
  return resolveClientAddress(socketAddress, request.headers.get('x-forwarded-for'), trustedProxies)
}

/** Creates a controller for routes without authentication. It parses bodies and formats errors. */
export function createPublicController(
  { log, trustedProxies, rejections, memory }: Pick<AdminOptions, 'log' | 'trustedProxies' | 'rejections' | 'memory'>,
  prefix: string,
  tag: OpenApiTag,
  security: { adminKey: string[] }[] = [],
  queryShape: QueryShape = {},
) {
  const contexts = new WeakMap<Request, HttpRequestContext>()
  const contextOf = (request: Request): HttpRequestContext =>
    contexts.get(request) ?? {
      requestId: readRequestId(request.headers),
      arrivedAtMs: performance.now(),
      // There are no CORS headers, because pages of other origins must not call the admin API.
      corsHeaders: {},
      apiForm: 'openai',
      closesConnection: false,
      isSecure: isHttps(request, trustedProxies),
      memory,
    }

  /** Logs a request without its query string, which may name people. */
  function logUnavailable(
    { method, url }: Request,
    { requestId, arrivedAtMs }: HttpRequestContext,
    { code, cause }: ProxyError,
  ): void {
    const details = { durationMs: msSince(arrivedAtMs), cause: describeCause(cause) }
    log.warn({ id: requestId, method, path: new URL(url).pathname, code, ...details }, 'admin request failed')
  }

  return (
    new Elysia({ prefix, normalize: false, detail: { tags: [tag], security } })
      .onParse(({ request }) => readJson(request))
      // Each hook destructures the request fields it needs. With a hook that takes the whole context, Elysia would parse cookies,
      // query and the rest of every request to the server, the proxy's included, and create each of its responses twice.
      .derive(({ request, server }) => {
        contexts.set(request, contextOf(request))
        return {
          query: readQuery(request.url, queryShape),
          address: readRequestAddress(request, server, trustedProxies),
        }
      })
      .mapResponse(async ({ responseValue, request }) => {
        if (responseValue instanceof Response) return streamResponse(responseValue, memory)
        log.failures.recover('dashboard', routeOf(request))
        // Elysia adds the headers that a handler set, such as a cookie.
        return closeIfBodyUnread(request, await createJsonResponse(request, responseValue, contextOf(request)))
      })
      .onError(({ error, request, server }) => {
        const rejection = toProxyError(error, { failures: log.failures, request })
        if (rejection.status === UNAVAILABLE) logUnavailable(request, contextOf(request), rejection)
        if (isCountedRejection(rejection))
          rejections.record(rejection.code, addressPrefix(readRequestAddress(request, server, trustedProxies)))
        rejection.headers['cache-control'] = 'no-store'
        return closeIfBodyUnread(request, respondWithError(rejection, contextOf(request)))
      })
  )
}

/** Creates a controller for routes with authentication. `caller` is resolved before the rest of the request is read. */
export function createAuthenticatedController(
  options: AdminOptions,
  prefix: string,
  tag: OpenApiTag,
  queryShape?: QueryShape,
) {
  return createPublicController(options, prefix, tag, [{ adminKey: [] }], queryShape).derive(
    async ({ request, address }) => ({
      caller: await readCaller(options, request, address),
    }),
  )
}

/** Streams a response, and counts the bytes that its client has not read. */
function streamResponse(response: Response, memory: StreamMemory): Response {
  if (response.body === null) return response
  const body = streamBody(response.body, { hasEvents: false, memory: new ResponseMemory(memory), onEnd() {} })
  return new Response(body, response)
}

async function readJson(request: Request): Promise<unknown> {
  const body = createBodyRedactor(request)
  const bytes = await body.readBytes().finally(body.release)
  measureJson(bytes)
  const text = decodeUtf8(bytes)
  if (text.trim() === '') return {}
  const value = parseJsonObject(text)
  if (value === undefined) throw invalidRequestError('The body of your request must be a JSON object.')
  return value
}

/** Returns the route by which failures are reported, and recover. */
function routeOf({ method, url }: Request): string {
  return `${method} ${url.replace(/[?#].*/, '')}`
}

function toProxyError(error: unknown, { failures, request }: Pick<Log, 'failures'> & { request: Request }): ProxyError {
  if (error instanceof ProxyError) return error
  // Elysia may wrap what a hook throws.
  const cause = error instanceof Error ? error.cause : null
  if (cause instanceof ProxyError) return cause
  const clientError = toClientError(error)
  if (clientError !== null) return clientError
  const where = error instanceof Error ? error.stack?.split('\n').slice(1, 4).join('\n') : undefined
  // The message names the missing right, and contains no value of the request.
  const reason = isPermissionDenied(error) ? errorMessageOf(error) : undefined
  failures.report('dashboard', error, 'admin request failed', { part: routeOf(request), fields: { where, reason } })
  return createError('internal', null, error)
}
