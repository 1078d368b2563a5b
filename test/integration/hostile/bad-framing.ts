/** Invalid HTTP, or HTTP that two servers could read differently. Bun rejects most of it by itself. */
import { chat, type HostileRequest, MARKER, write } from './hostile-request.ts'
import type { RawPart } from './raw-http.ts'

const BODY = JSON.stringify(chat())
const CHUNKED = 'Transfer-Encoding: chunked'
const LENGTH = `Content-Length: ${BODY.length}`
const asChunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const asChunks = (...texts: string[]): string => `${texts.map(asChunk).join('')}0\r\n\r\n`

/** Each line is the only framing of a valid body. */
const AMBIGUOUS: Record<string, string | null> = {
  'no length at all': null,
  'two different lengths': `${LENGTH}\r\nContent-Length: 5`,
  'a length and chunks': `${LENGTH}\r\n${CHUNKED}`,
  'chunks and a length': `${CHUNKED}\r\n${LENGTH}`,
  'a negative length': 'Content-Length: -1',
  'a signed length': `Content-Length: +${BODY.length}`,
  'a hexadecimal length': 'Content-Length: 0x10',
  'a length with a comma': `Content-Length: ${BODY.length}, ${BODY.length}`,
  'a length in words': `Content-Length: ${MARKER}`,
  'a length beyond 64 bits': 'Content-Length: 99999999999999999999999',
  'an unknown coding': 'Transfer-Encoding: gzip',
  'chunked not last': 'Transfer-Encoding: chunked, identity',
  'chunked twice': 'Transfer-Encoding: chunked, chunked',
  'chunked misspelt': 'Transfer-Encoding: xchunked',
  'chunked after a tab': 'Transfer-Encoding:\tchunked, gzip',
  'a space before the colon': 'Content-Length : 10',
}

/** Malformed header lines. */
const MALFORMED_HEADERS: Record<string, string> = {
  'a folded line': `X-A: b\r\n ${MARKER}`,
  'no colon': MARKER,
  'no name': `: ${MARKER}`,
  'a space in the name': `X A: ${MARKER}`,
  'a bracket in the name': `X(A): ${MARKER}`,
  'a NUL in the value': `X-A: ${MARKER}\0`,
  'a carriage return in the value': `X-A: ${MARKER}\rX-Proxy-Cache-Namespace: injected`,
  'an escape in the value': `X-Proxy-Cache-Namespace: \u001b[2J${MARKER}`,
  'a header of 20 kB': `X-A: ${'a'.repeat(20_000)}`,
  '300 headers': Array.from({ length: 300 }, (_, i) => `X-${i}: ${i}`).join('\r\n'),
}

const REQUEST_LINES: Record<string, { line: string; statuses: number[] }> = {
  'no version': { line: 'GET /v1/health', statuses: [505] },
  'HTTP/1.2': { line: 'POST /v1/chat/completions HTTP/1.2', statuses: [505] },
  'HTTP/2': { line: 'POST /v1/chat/completions HTTP/2.0', statuses: [505] },
  'an HTTP/2 preface': { line: 'PRI * HTTP/2.0\r\n\r\nSM', statuses: [400] },
  'no path': { line: 'POST  HTTP/1.1', statuses: [400] },
  'an asterisk': { line: 'OPTIONS * HTTP/1.1', statuses: [400] },
  'a path without a slash': { line: 'POST v1/chat/completions HTTP/1.1', statuses: [400] },
  'a space in the path': { line: `POST /v1/${MARKER} x HTTP/1.1`, statuses: [505] },
  'a NUL in the path': { line: `POST /v1/\0${MARKER} HTTP/1.1`, statuses: [505] },
  'a path of 20 kB': { line: `POST /${'a'.repeat(20_000)} HTTP/1.1`, statuses: [431] },
  words: { line: `hello ${MARKER}`, statuses: [400] },
  'a TLS greeting': { line: '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001', statuses: [400] },
  'a SOCKS greeting': { line: '\u0005\u0001\u0000', statuses: [400] },
  'lower case': { line: 'post /v1/chat/completions HTTP/1.1', statuses: [] },
  'an unknown method': { line: `BREW /v1/chat/completions HTTP/1.1`, statuses: [] },
}

function line(text: string): HostileRequest['send'] {
  return key => [
    Buffer.from(`${text}\r\nHost: proxy.example\r\nAuthorization: Bearer ${key}\r\n${LENGTH}\r\n\r\n${BODY}`, 'latin1'),
  ]
}

const framed = (framing: string | null, body: string | Uint8Array = BODY) => write({ framing, body })

/** Sends each part as a separate packet, with pauses. */
function trickle(send: HostileRequest['send']): HostileRequest['send'] {
  return key => {
    const bytes = Buffer.concat(send(key).map(part => Buffer.from(part as string | Uint8Array)))
    const parts: RawPart[] = []
    for (let at = 0; at < bytes.length; at += 16) parts.push(bytes.subarray(at, at + 16), 1)
    return parts
  }
}

const STRANGER = `Authorization: Bearer lgw_test_${MARKER}`
const refusedByBun = { isRefusedByBun: true }

export const BAD_FRAMING: HostileRequest[] = [
  ...Object.entries(AMBIGUOUS).map(([name, framing]) => ({
    name: `framing: ${name}`,
    send: framed(framing, framing?.includes('chunked') ? asChunks(BODY) : BODY),
    statuses: [400],
    ...refusedByBun,
  })),
  ...Object.entries(MALFORMED_HEADERS).map(([name, header]) => ({
    name: `a header with ${name}`,
    send: write({ headers: [header] }),
    statuses: [name.match(/^\d|of 20 kB/) ? 431 : 400],
    ...refusedByBun,
  })),
  ...Object.entries(REQUEST_LINES).map(([name, { line: text, statuses }]) => ({
    name: `a request line: ${name}`,
    send: line(text),
    statuses,
    ...refusedByBun,
  })),
  { name: 'no Host', send: write({ host: null }), statuses: [400], ...refusedByBun },
  {
    name: 'bare line feeds',
    send: key => [line('POST /v1/chat/completions HTTP/1.1')(key).toString().replaceAll('\r', '')],
    statuses: [505],
    ...refusedByBun,
  },
  {
    name: 'a chunk size in words',
    send: framed(CHUNKED, `${MARKER}\r\n${BODY}\r\n0\r\n\r\n`),
    statuses: [400],
    ...refusedByBun,
  },
  {
    name: 'a chunk size beyond 64 bits',
    send: framed(CHUNKED, `${'f'.repeat(17)}\r\n${BODY}\r\n0\r\n\r\n`),
    statuses: [400],
    ...refusedByBun,
  },
  {
    name: 'a chunk that is longer than it says',
    send: framed(CHUNKED, `5\r\n${BODY}\r\n0\r\n\r\n`),
    statuses: [400],
    ...refusedByBun,
  },
  { name: 'chunks', send: framed(CHUNKED, asChunks(BODY.slice(0, 9), BODY.slice(9))), statuses: [200] },
  {
    // The key is invalid, because the body is complete: a valid request would be answered and counted, although Bun discards that response.
    name: 'chunks with trailers',
    send: write({
      authorization: STRANGER,
      framing: CHUNKED,
      body: `${asChunk(BODY)}0\r\nX-Trailer: ${MARKER}\r\n\r\n`,
    }),
    statuses: [400],
    ...refusedByBun,
  },
  { name: 'two equal lengths', send: framed(`${LENGTH}\r\n${LENGTH}`), statuses: [200] },
  { name: 'a body shorter than the next request', send: framed('Content-Length: 5'), statuses: [400], ...refusedByBun },
  { name: 'HTTP/1.0', send: write({ version: 'HTTP/1.0' }), statuses: [200] },
  { name: 'two hosts', send: write({ headers: [`Host: ${MARKER}`] }), statuses: [400] },
  { name: 'a host of one letter', send: write({ host: 'Host: x' }), statuses: [200] },
  {
    name: 'an absolute address',
    send: write({ path: 'http://elsewhere.example/v1/chat/completions' }),
    statuses: [200],
  },
  { name: '100-continue', send: write({ headers: ['Expect: 100-continue'] }), statuses: [200] },
  { name: 'sixteen bytes at a time', send: trickle(write({})), statuses: [200] },
  { name: 'the same in chunks of one byte', send: framed(CHUNKED, asChunks(...BODY)), statuses: [200] },
]
