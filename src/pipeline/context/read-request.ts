/** Reads request bodies: a small one before the request is admitted, any other after. */

import { LRUCache } from 'lru-cache'
import { decodeUtf8 } from '../../formats/json/canonical.ts'
import { walkJson } from '../../formats/json/walk.ts'
import { isLargeBody } from '../../formats/large-bodies/read-large-body.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { changeModel, resolveAlias } from '../request/change-model.ts'
import { applyHeaders, parseBody, parseRequestBytes } from '../request/parse-request.ts'
import type { CompletionQuery, ParsedBody, ParsedBodyCache } from '../request/query.ts'
import type { ProxyRequest } from '../request/request.ts'
import type { PipelineServices } from './request-context.ts'

/** A body that was read before the request was admitted. */
export interface EarlyBody {
  bytes: Uint8Array
  /** Null if the body can only be parsed after admission: it needs a worker, or refers to responses that are stored for its key. */
  query: CompletionQuery | null
}

/**
 * Returns null if the body was not announced as small, or the operation usually has large bodies. Throws a 401 or 403 for an invalid key,
 * else the errors of `parseRequest`.
 */
export async function readBodyEarly(
  request: ProxyRequest,
  keyHash: string,
  { admission, parsedBodies }: PipelineServices,
): Promise<EarlyBody | null> {
  const { target, headers, body } = request
  if (target.kind !== 'endpoint' || !body.isSmall) return null
  const { endpoint } = target
  try {
    const bytes = await body.readBytes()
    if (isLargeBody(bytes)) return { bytes, query: null }
    const text = decodeUtf8(bytes)
    const query = applyHeaders(parsedBodies.find(endpoint, text) ?? parseBody(endpoint, text), headers)
    return { bytes, query: query.referencesEarlierTurns ? null : query }
  } catch (error) {
    // An unauthorized client gets its 401 or 403 before any complaint about the body.
    await admission.admitWithoutQuota(keyHash, request)
    throw error
  }
}

/** Reads the body after the request is admitted. `early`: its bytes, if they were read before. */
export async function readCompletionRequest(
  { target, headers, body }: ProxyRequest,
  resolvedKey: ResolvedKey,
  { largeBodies, conversations }: PipelineServices,
  early?: Uint8Array,
): Promise<CompletionQuery> {
  if (target.kind !== 'endpoint') throw new Error('readCompletionRequest: target must be an endpoint')
  const requestInput = { endpoint: target.endpoint, headers, body }
  const bytes = early ?? (await body.readBytes())
  const parsed = await parseRequestBytes(requestInput, bytes, largeBodies, resolvedKey.project_id)
  const query = await resolveAlias(parsed, resolvedKey, model =>
    changeModel(parsed, model, { resolvedKey, body, largeBodies }),
  )
  return conversations.expandEarlierTurns(query, requestInput, resolvedKey)
}

const MAX_BYTES = 16 * 1_048_576
const MAX_TEXT_LENGTH = 16_384
/** Memory of a body beside its text, which it holds about three times: as sent, in canonical form, and in its values. */
const OVERHEAD_BYTES = 2_400

export function createParsedBodyCache(): ParsedBodyCache {
  const bodies = new LRUCache<string, ParsedBody>({
    maxSize: MAX_BYTES,
    sizeCalculation: (_, text) => 3 * text.length + OVERHEAD_BYTES,
  })

  return {
    find(endpoint, text) {
      if (text.length > MAX_TEXT_LENGTH) return undefined
      const parsed = bodies.get(text)
      return parsed?.endpoint === endpoint ? parsed : undefined
    },
    store(query) {
      if (query.isLarge || query.text.length > MAX_TEXT_LENGTH) return
      if (bodies.peek(query.text)?.endpoint === query.endpoint) return
      bodies.set(query.text, deepFreeze(omitRequestFields(query)))
    },
  }
}

/** Omits the fields of a single request, which would otherwise stay in memory with the body. */
function omitRequestFields({ headers, control, alias, ...parsed }: CompletionQuery): ParsedBody {
  return parsed
}

/** Freezes a value that later requests share, so that code that changes it throws. */
function deepFreeze<T extends object>(value: T): T {
  walkJson(value, part => Object.isFrozen(Object.freeze(part)))
  return Object.freeze(value)
}
