/** Reads a request's body within its limits of size and time. */
import { invalidRequest, ProxyError } from '../errors.ts'
import { createTimeLimit } from '../event-loop/time-limit.ts'

export interface BodyLimits {
  maxBodyBytes: number
  /** From the headers to the last byte of the body. */
  bodyTimeoutMs: number
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

/** Returns a function that reads a request's body, and throws 408, 413, 415, or 400 where it is not UTF-8. */
export function createBodyReader({ maxBodyBytes, bodyTimeoutMs }: BodyLimits): (request: Request) => Promise<string> {
  const withinBodyTimeout = createTimeLimit(bodyTimeoutMs)

  async function readBytes(request: Request): Promise<Uint8Array> {
    const length = request.headers.get('content-length')
    if (Number(length ?? 0) > maxBodyBytes) throw tooLarge(maxBodyBytes)
    try {
      return await withinBodyTimeout(length === null ? countBytes(request, maxBodyBytes) : request.bytes())
    } catch (error) {
      throw error instanceof ProxyError ? error : tooSlow(bodyTimeoutMs, error)
    }
  }

  return async request => {
    checkType(request.headers)
    const bytes = await readBytes(request)
    try {
      return strictUtf8.decode(bytes)
    } catch {
      throw invalidRequest('The body of your request must be UTF-8 text.')
    }
  }
}

/** A body whose length nobody declared is counted as it comes. */
async function countBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
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
