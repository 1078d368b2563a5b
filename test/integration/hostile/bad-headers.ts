/** Valid bodies with invalid, repeated or forged headers. */
import { type HostileRequest, MARKER, write } from './hostile-request.ts'

/** Invalid values of each header. Each is a 400 that names the header. */
const BAD_CACHE_CONTROL: Record<string, string[]> = {
  'Cache-Control': [
    'max-age',
    'max-age=',
    'max-age=-1',
    'max-age=1.5',
    'max-age=1e3',
    'max-age=0x10',
    `max-age=${MARKER}`,
    'max-age=99999999999',
    'max-age=" 5"',
    'no-cache, max-age=ten',
  ],
  'X-Proxy-Cache-TTL': ['', '-1', '1.5', '1e3', '+5', '0x10', '5s', '5, 5', MARKER, '315360001', '9'.repeat(400)],
  'X-Proxy-Cache-Threshold': [
    '',
    '-0.1',
    '1.1',
    '2',
    '.5',
    '1.',
    '1e-1',
    '0,5',
    'NaN',
    '0.5, 0.6',
    MARKER,
    '0.'.repeat(50),
  ],
  'X-Proxy-Cache-Version': [
    '',
    'docs',
    '@42',
    'docs@',
    'docs@42, faq@1',
    'docs@4@2',
    `docs@${MARKER}\u0080`,
    `v@${'1'.repeat(255)}`,
  ],
  'X-Proxy-Cache-Namespace': ['n'.repeat(257), 'caf\u00e9', `${MARKER}\u0080`, 'tab\tinside'],
}

const DOUBLED: Record<string, string[]> = {
  'X-Proxy-Cache-TTL': ['X-Proxy-Cache-TTL: 60', `X-Proxy-Cache-TTL: ${MARKER}`],
  'X-Proxy-Cache-Threshold': ['X-Proxy-Cache-Threshold: 0.9', 'X-Proxy-Cache-Threshold: 0.9'],
}

/** Headers that are not rejected, but are not trusted or repeated either. */
const ANSWERED: Record<string, string[]> = {
  'a request id with spaces': [`X-Request-Id: ${MARKER} with spaces`],
  'a request id of 129 letters': [`X-Request-Id: ${'r'.repeat(129)}`],
  'an empty request id': ['X-Request-Id:'],
  'a request id in Latin-1': [`X-Request-Id: ${MARKER}\u00ff`],
  'a request id with markup': [`X-Request-Id: <b>${MARKER}</b>`],
  'two request ids': [`X-Request-Id: ${MARKER}`, `X-Request-Id: ${MARKER}`],
  'response headers sent as request headers': ['X-Proxy-Cache: HIT', `X-Proxy-Provider: ${MARKER}`],
  'a Connection header that names ours': ['Connection: x-proxy-cache-namespace, authorization, keep-alive'],
  cookies: [`Cookie: session=${MARKER}`],
  'vendor credentials': [`X-Api-Key: ${MARKER}`, `OpenAI-Organization: ${MARKER}`],
  'unknown cache directives': [`Cache-Control: ${MARKER}, =, ,, x=y=z`],
  'an unknown Expect': [`Expect: ${MARKER}`],
  'an upgrade to HTTP/2': ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'],
  'a forged host': [`X-Forwarded-Host: ${MARKER}`, `Forwarded: for=${MARKER}`],
  'an odd Accept': [`Accept: ${MARKER}`, 'Accept-Encoding: br;q=1.0, gzip;q=0'],
  'a range': ['Range: bytes=0-0'],
  'a condition': ['If-None-Match: *', 'If-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT'],
}

/** For the proxy that trusts one hop. */
const FORGED_ADDRESSES: Record<string, string> = {
  'no address': `1.2.3.4, ${MARKER}`,
  nothing: '',
  'commas alone': ',,,',
  'a port': '1.2.3.4:5678',
  'a bracketed address': '[::1]:80',
  'a Redis key': `1.2.3.4}\u00ff{${MARKER}`,
  '500 hops': Array(500).fill('1.2.3.4').join(', '),
  'a zone': `fe80::1%${MARKER}`,
}

const BAD_TYPES = [
  'text/plain',
  `multipart/form-data; boundary=${MARKER}`,
  'application/xml',
  'application/jsonp',
  'application/json-seq',
  'application/octet-stream',
  'text/event-stream',
  'json',
  `${MARKER}/${MARKER}`,
  'application/json, text/plain',
]
const GOOD_TYPES = [
  null,
  'Content-Type:',
  'Content-Type: APPLICATION/JSON',
  'Content-Type: application/json;charset=latin1',
  // The type that `curl -d` sends with JSON.
  'Content-Type: application/x-www-form-urlencoded',
]
const BAD_ENCODINGS = ['compress', 'gzip;q=1', 'identity, lzma', 'gzip, gzip, gzip, gzip', MARKER]
/** Encodings that a body claims although it is not compressed. */
const FALSE_ENCODINGS = ['gzip', 'br', 'deflate', 'zstd', 'identity, gzip', 'gzip, zstd']

export const BAD_HEADERS: HostileRequest[] = [
  ...Object.entries(BAD_CACHE_CONTROL).flatMap(([header, values]) =>
    values.map(value => ({
      name: `${header}: ${JSON.stringify(value.slice(0, 30).replaceAll(MARKER, '…'))}`,
      send: write({ headers: [`${header}: ${value}`] }),
      statuses: [400],
      error: { code: 'invalid_request_error', param: header },
    })),
  ),
  ...Object.entries(DOUBLED).map(([header, headers]) => ({
    name: `${header} twice`,
    send: write({ headers }),
    statuses: [400],
    error: { param: header },
  })),
  ...Object.entries(ANSWERED).map(([name, headers]) => ({ name, send: write({ headers }), statuses: [200] })),
  ...Object.entries(FORGED_ADDRESSES).map(([name, value]) => ({
    name: `a forged client address: ${name}`,
    send: write({ headers: [`X-Forwarded-For: ${value}`] }),
    statuses: [200],
    isForSmallProxy: true,
  })),
  ...BAD_TYPES.map(type => ({
    name: `Content-Type ${type.replaceAll(MARKER, '…')}`,
    send: write({ type: `Content-Type: ${type}` }),
    statuses: [415],
    error: { code: 'unsupported_media_type', param: 'Content-Type' },
  })),
  ...GOOD_TYPES.map(type => ({
    name: `a fair ${type ?? 'lack of a Content-Type'}`,
    send: write({ type }),
    statuses: [200],
  })),
  ...BAD_ENCODINGS.map(encoding => ({
    name: `Content-Encoding ${encoding.replaceAll(MARKER, '…')}`,
    send: write({ headers: [`Content-Encoding: ${encoding}`] }),
    statuses: [415],
    error: { code: 'unsupported_media_type', param: 'Content-Encoding' },
  })),
  ...FALSE_ENCODINGS.map(encoding => ({
    name: `Content-Encoding ${encoding} of a body that is plain`,
    send: write({ headers: [`Content-Encoding: ${encoding}`] }),
    statuses: [400],
    error: { code: 'invalid_request_error', param: 'Content-Encoding' },
  })),
]
