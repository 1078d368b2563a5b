/**
 * `Idempotency-Key` of POST requests to the admin API: a change is made once, and an equal request within 24 hours gets its response. The key
 * is recorded in the transaction of the request's first change, so that no failure separates the two. A request that changes nothing records
 * nothing.
 */
import { randomUUID } from 'node:crypto'
import { createError, invalidRequestError } from '../errors/errors.ts'
import { canonicalizeBody, isJsonObject, sha256 } from '../formats/json/canonical.ts'
import type { IdempotentRequest } from '../postgres/admin/call-as.ts'
import { callFunction, callFunctionForRow } from '../postgres/call.ts'
import { sqlStateOf } from '../postgres/database.ts'
import type { Caller } from './caller.ts'
import type { AdminOptions } from './controller.ts'
import { formatId } from './ids.ts'

const KEY = /^[!-~]{1,255}$/
/** SQLSTATE of claim_idempotency_key(): another request has the key. */
const KEY_IN_USE = 'PX001'
/** Responses are sealed under this label, so that none can be opened as a provider key. */
const SEAL_CONTEXT = { projectId: 0, provider: 'idempotent response' }
const POLL_EVERY_MS = 50
/** The time for which a request waits for the response of an equal one. */
const MAX_WAIT_MS = 5_000
/** The process of an older request without a response has ended. */
const MAX_IN_FLIGHT_SECONDS = 120

type Options = Pick<AdminOptions, 'database' | 'vault' | 'log'>

/** Serves a POST request: once per idempotency key, if it has one. `serve` gets the caller whose changes are recorded under the key. */
export async function serveOnce(
  options: Options,
  caller: Caller,
  request: Request,
  body: unknown,
  serve: (caller: Caller) => Promise<object>,
): Promise<object> {
  const key = request.headers.get('idempotency-key')
  if (key === null) return serve(caller)
  if (!KEY.test(key))
    throw invalidRequestError(
      "The header 'Idempotency-Key' must be 1 to 255 printable ASCII characters.",
      'Idempotency-Key',
    )
  const { adminKeyId, userId } = caller.actor
  const idempotent: IdempotentRequest = {
    caller: adminKeyId === null ? formatId('user', userId) : formatId('admin_key', adminKeyId),
    key_hash: sha256(key),
    request_hash: hashRequest(request, key, body),
    attempt: randomUUID(),
  }
  const earlier = await findResponse(options, idempotent)
  if (earlier !== null) return earlier
  try {
    const response = await serve({ ...caller, actor: { ...caller.actor, idempotent } })
    // The change is made, so the response is sent even if it cannot be stored.
    await storeResponse(options, idempotent, response).catch(error =>
      options.log.failures.report('dashboard', error, 'the response of an idempotent request could not be stored'),
    )
    return response
  } catch (error) {
    const response = sqlStateOf(error) === KEY_IN_USE ? await findResponse(options, idempotent) : null
    if (response === null) throw error
    return response
  }
}

/** Returns the response of an earlier equal request; null if there was none. Waits for one in flight. */
async function findResponse(options: Options, { caller, key_hash, request_hash }: IdempotentRequest) {
  const startedAtMs = performance.now()
  for (;;) {
    const named = { of_caller: caller, of_key_hash: key_hash }
    const earlier = await callFunctionForRow(options.database, 'find_idempotent_request', named)
    if (earlier === null) return null
    if (earlier.request_hash !== request_hash) throw createError('idempotencyKeyReused')
    if (earlier.finished || earlier.seconds > MAX_IN_FLIGHT_SECONDS) return openResponse(options, earlier)
    if (performance.now() - startedAtMs > MAX_WAIT_MS) throw createError('idempotentRequestInFlight')
    await Bun.sleep(POLL_EVERY_MS)
  }
}

/** Decrypts a response. Throws a 409 if it is not stored, or if its encryption key is missing. */
async function openResponse(
  { vault }: Options,
  { response, target }: { response: Uint8Array | null; target: string | null },
): Promise<object> {
  const text = response && (await vault.open(response, SEAL_CONTEXT).catch(() => null))
  if (text) return JSON.parse(text)
  const result = target === null ? 'Read the list of objects to see its result.' : `Its result is ${target}.`
  throw createError('idempotentResponseMissing', { result })
}

/** Stores the response encrypted; without an encryption key, only the id of its object. */
async function storeResponse(
  { database, vault }: Options,
  { caller, key_hash, attempt }: IdempotentRequest,
  response: object,
): Promise<void> {
  const sealed = await vault.seal(JSON.stringify(response), SEAL_CONTEXT).catch(() => null)
  await callFunction(database, 'finish_idempotent_request', {
    of_caller: caller,
    of_key_hash: key_hash,
    of_attempt: attempt,
    of_target: 'id' in response ? String(response.id) : null,
    sealed,
  })
}

/** Hashes a request. The key is part of it, so that hashes of bodies with short secrets cannot be compared. */
function hashRequest({ method, url }: Request, key: string, body: unknown): string {
  const { pathname, search } = new URL(url)
  return sha256(
    JSON.stringify([key, method, pathname, search, isJsonObject(body) ? canonicalizeBody(body, new Set()) : '']),
  )
}
