/** Reads a request's body within its limits of size and time. */
import { invalidRequest, ProxyError } from '../errors.ts'
import { withinTimeLimit } from '../time-limit.ts'

export interface BodyLimits {
  maxBodyBytes: number
  /** From the headers to the last byte of the body. */
  bodyTimeoutMs: number
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

/** Throws 408, 413, 415, or 400 where the body is not UTF-8. */
export async function readBody(request: Request, { maxBodyBytes, bodyTimeoutMs }: BodyLimits): Promise<string> {
  checkType(request.headers)
  if (Number(request.headers.get('content-length') ?? 0) > maxBodyBytes) throw tooLarge(maxBodyBytes)
  const bytes = await withinTimeLimit(bodyTimeoutMs, readBytes(request, maxBodyBytes)).catch(error => {
    throw error instanceof ProxyError ? error : tooSlow(bodyTimeoutMs, error)
  })
  try {
    return strictUtf8.decode(bytes)
  } catch {
    throw invalidRequest('The body of your request must be UTF-8 text.')
  }
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  // A declared length was checked; without one, the body is counted as it comes.
  if (request.headers.has('content-length')) return request.bytes()
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of request.body ?? []) {
    length += part.length
    if (length > maxBytes) throw tooLarge(maxBytes)
    parts.push(part)
  }
  return Buffer.concat(parts, length)
}

function checkType(headers: Headers): void {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== undefined && type !== '' && type !== 'application/json' && !type.endsWith('+json')) {
    throw new ProxyError({
      status: 415,
      code: 'unsupported_media_type',
      message: 'Content-Type must be application/json.',
      param: 'Content-Type',
    })
  }
  const encoding = headers.get('content-encoding')?.trim().toLowerCase()
  if (encoding && encoding !== 'identity') {
    throw new ProxyError({
      status: 415,
      code: 'unsupported_media_type',
      message: 'Content-Encoding is not supported: send the body uncompressed.',
      param: 'Content-Encoding',
    })
  }
}

function tooLarge(maxBytes: number): ProxyError {
  return new ProxyError({
    status: 413,
    code: 'request_too_large',
    message: `The body of your request is larger than ${maxBytes} bytes.`,
    // What is still on its way is not read.
    headers: { connection: 'close' },
  })
}

function tooSlow(limitMs: number, cause: unknown): ProxyError {
  return new ProxyError({
    status: 408,
    code: 'request_timeout',
    message: `The body of your request did not arrive within ${limitMs / 1000} seconds.`,
    headers: { connection: 'close' },
    cause,
  })
}
