/** Unknown paths, and methods that a path does not support. */
import { type HostileRequest, MARKER, write } from './hostile-request.ts'

const NOWHERE = [
  '/',
  '/v1',
  '/v1/',
  '/v2/chat/completions',
  '/V1/chat/completions',
  '/v1/chat',
  '/v1/chat/completion',
  '/v1/responses/..%2ffiles',
  `/v1/${MARKER}`,
  '/v1/%63hat/completions',
  '/v1/chat%2Fcompletions',
  '/v1/chat/completions%00',
  '/v1/chat/completions%0d%0aX-Injected:yes',
  '/v1/chat/completions;x=1',
  '/v1/chat/completions/extra',
  '/v1/..%2f..%2fetc/passwd',
  '/../../etc/passwd',
  '/%',
  '/%ff',
  '/%c0%af',
  '/\u00ff',
  '/__proto__',
  '/constructor',
  '/toString',
  '/*',
  '/:path',
  '/.env',
]

/** Other spellings of the same path, with the same response. */
const SAME_PLACE = [
  '/v1/chat/completions/',
  `/v1/chat/completions?${MARKER}=${MARKER}&__proto__=1`,
  '/v1/chat/completions?',
  `/v1/chat/completions?${'a[]='.repeat(500)}`,
  '/v1/../v1/chat/completions',
  '/v1/chat/completions#fragment',
  '/chat/completions',
  '/v1/v1/chat/completions',
  '//v1/chat/completions',
  '/v1//chat/completions',
  '/openai/deployments/openai%2Fgpt-4o-mini/chat/completions?api-version=2024-10-21',
]

const METHODS = ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'QUERY']
const POST_PATHS = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/responses/input_tokens',
  '/v1/completions',
  '/v1/embeddings',
]
const WEBSOCKET = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
]

const refusedMethod = { statuses: [405], error: { code: 'method_not_allowed' } }

export const BAD_PATHS: HostileRequest[] = [
  { name: 'POST /health', send: write({ path: '/health' }), ...refusedMethod },
  ...NOWHERE.map(path => ({
    name: `nowhere: ${path.replaceAll(MARKER, '…')}`,
    send: write({ path }),
    statuses: [404],
    error: { code: 'not_found' },
  })),
  ...SAME_PLACE.map(path => ({ name: `somewhere: ${path.slice(0, 40)}`, send: write({ path }), statuses: [200] })),
  ...METHODS.map(method => ({ name: `${method} a chat`, send: write({ method }), ...refusedMethod })),
  { name: 'HEAD a chat', send: write({ method: 'HEAD' }), statuses: [405] },
  ...POST_PATHS.map(path => ({
    name: `GET ${path} without a body`,
    send: write({ method: 'GET', path, body: '', framing: null, type: null }),
    ...refusedMethod,
  })),
  ...['POST', 'PUT', 'DELETE', 'OPTIONS'].map(method => ({
    name: `${method} health with a broken body`,
    send: write({ method, path: '/v1/health', body: `{"${MARKER}` }),
    ...refusedMethod,
  })),
  {
    name: 'a websocket',
    send: write({ method: 'GET', headers: WEBSOCKET, body: '', framing: null }),
    statuses: [426],
    error: { code: 'websocket_not_supported' },
  },
  { name: 'a wrong method at a host of one letter', send: write({ method: 'PUT', host: 'Host: x' }), ...refusedMethod },
  {
    name: 'three requests at once, to nowhere',
    send: key => Array.from({ length: 3 }, () => write({ path: '/nowhere' })(key)).flat(),
    statuses: [404, 404, 404],
  },
  {
    // Bun serves one request at a time per connection, and closes connections that send more.
    name: 'three requests at once, by a stranger',
    send: key =>
      Array.from({ length: 3 }, () => write({ authorization: `Authorization: Bearer lgw_proj_${MARKER}` })(key)).flat(),
    statuses: [],
    isRefusedByBun: true,
  },
  {
    name: 'a request hidden in the body of another',
    send: key =>
      write({ path: '/nowhere', body: Buffer.concat(write({ path: `/${MARKER}` })(key) as Uint8Array[]) })(key),
    statuses: [404],
  },
]
