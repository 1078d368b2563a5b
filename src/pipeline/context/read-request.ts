/** Reads a request's body when its turn comes: a small one before the request is admitted, any other after. */

import { LRUCache } from 'lru-cache'
import { decodeUtf8 } from '../../formats/json/canonical.ts'
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
  /** Null when a worker has to parse the body, or it names what is kept for its key: after the request is admitted. */
  query: CompletionQuery | null
}

/**
 * Returns null when the body was not announced as small, or is of an operation whose bodies are large. Throws as `parseRequest` does, but
 * 401 or 403 first.
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

/** Reads the body after the request is admitted. */
export async function readCompletionRequest(
  { target, headers, body }: ProxyRequest,
  resolvedKey: ResolvedKey,
  { largeBodies, conversations }: PipelineServices,
  early?: Uint8Array,
): Promise<CompletionQuery> {
  if (target.kind !== 'endpoint') throw new Error('Only endpoints are completions')
  const asked = { endpoint: target.endpoint, headers, body }
  const bytes = early ?? (await body.readBytes())
  const named = await parseRequestBytes(asked, bytes, largeBodies, resolvedKey.project_id)
  const query = await resolveAlias(named, resolvedKey, model =>
    changeModel(named, model, { resolvedKey, body, largeBodies }),
  )
  return conversations.expandEarlierTurns(query, asked, resolvedKey)
}

const MOST_BYTES = 16 * 1_048_576
const LONGEST_CHARS = 16_384
/** What a body takes beside its text, which it holds about three times: as it came, canonical, and in its values. */
const BYTES_A_BODY = 2_400

export function createParsedBodyCache(): ParsedBodyCache {
  const bodies = new LRUCache<string, ParsedBody>({
    maxSize: MOST_BYTES,
    sizeCalculation: (_, text) => 3 * text.length + BYTES_A_BODY,
  })

  return {
    find(endpoint, text) {
      if (text.length > LONGEST_CHARS) return undefined
      const parsed = bodies.get(text)
      return parsed?.endpoint === endpoint ? parsed : undefined
    },
    store(query) {
      if (query.isLarge || query.text.length > LONGEST_CHARS) return
      if (bodies.peek(query.text)?.endpoint === query.endpoint) return
      bodies.set(query.text, freeze(pickParsed(query)))
    },
  }
}

/** Leaves out what belongs to a single request, which would otherwise stay in memory as long. */
function pickParsed({ headers, control, alias, ...parsed }: CompletionQuery): ParsedBody {
  return parsed
}

/** Frozen, because later requests share it: code that changed it throws at once. */
function freeze<T>(value: T): T {
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null) continue
    Object.freeze(next)
    for (const part of Object.values(next)) waiting.push(part)
  }
  return value
}
