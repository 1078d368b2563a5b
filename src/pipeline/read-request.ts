/** Reads a request's body when its turn comes: a small one before the request is admitted, any other after. */
import type { Admission } from '../admission/admission.ts'
import { decodeUtf8 } from '../json/decode-utf8.ts'
import { isLargeBody, type LargeBodyReader } from '../large-bodies/read-large-body.ts'
import type { Account } from '../postgres/admit.ts'
import type { ProxyRequest } from './exchange.ts'
import { parseBody, parseBytes, type RequestQuery, withHeaders } from './parse-request.ts'
import { createParsedBodies } from './parsed-bodies.ts'

/** A body that was read before the request was admitted. */
export interface EarlyBody {
  bytes: Uint8Array
  /** Null when a worker has to parse the body, after the request is admitted. */
  query: RequestQuery | null
}

export interface RequestReader {
  /** Returns null when the body was not announced as small. Throws as `parseRequest` does, but 401 or 403 first. */
  readEarly(request: ProxyRequest, keyHash: string): Promise<EarlyBody | null>
  readLate(request: ProxyRequest, early: EarlyBody | null, account: Account): Promise<RequestQuery>
  /** Call it for a request answered from the cache: its body is not parsed again when it is repeated. */
  keep(query: RequestQuery): void
}

export function createRequestReader(
  admission: Pick<Admission, 'authenticate'>,
  largeBodies: LargeBodyReader,
): RequestReader {
  const parsedBodies = createParsedBodies()

  function parseSmall({ endpoint, headers }: ProxyRequest, text: string): RequestQuery {
    return withHeaders(parsedBodies.find(endpoint, text) ?? parseBody(endpoint, text), headers)
  }

  return {
    async readEarly(request, keyHash) {
      if (!request.body.isSmall) return null
      try {
        const bytes = await request.body.readBytes()
        return { bytes, query: isLargeBody(bytes) ? null : parseSmall(request, decodeUtf8(bytes)) }
      } catch (error) {
        // An unauthorized client gets its 401 or 403 before any complaint about the body.
        await admission.authenticate(keyHash, request)
        throw error
      }
    },
    async readLate(request, early, account) {
      const bytes = early?.bytes ?? (await request.body.readBytes())
      return parseBytes(request, bytes, largeBodies, account.project_id)
    },
    keep: parsedBodies.keep,
  }
}
