/** Bodies that are too large, too slow, or never arrive. The proxy accepts 4,096 bytes in 1.5 seconds. */
import { chat, type HostileRequest, MARKER, write } from './hostile-request.ts'

const CHUNKED = 'Transfer-Encoding: chunked'
const SMALL = JSON.stringify(chat())
const sized = (bytes: number): string => JSON.stringify(chat({ user: '' })).padEnd(bytes, ' ')
const asChunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`
const MEGABYTE = MARKER.padEnd(1_048_576, 'x')

const tooLarge = {
  statuses: [413],
  error: { code: 'request_too_large', message: 'The body of your request is larger than 4096 bytes.' },
}
const tooSlow = {
  statuses: [408],
  error: { code: 'request_timeout', message: 'The body of your request did not arrive within 1.5 seconds.' },
  // Each takes its whole time limit with any provider, so it is not sent to the upstream as well.
  upstreamStatuses: null,
}

/** Sends a byte every 20 ms, and then nothing. */
function slowly(framing: string, bytes: readonly string[]): HostileRequest['send'] {
  return key => [...write({ framing, body: '' })(key).slice(0, 1), ...bytes.flatMap(byte => [20, byte])]
}

const hugeHead = (framing: string) => write({ framing, body: '' })

const FOR_SMALL_PROXY: HostileRequest[] = [
  { name: 'exactly the largest body', send: write({ body: sized(4_096) }), statuses: [200] },
  { name: 'a byte too many', send: write({ body: sized(4_097) }), ...tooLarge },
  { name: 'a megabyte too many', send: write({ body: sized(1_048_576) }), ...tooLarge },
  { name: 'ten megabytes too many', send: write({ body: sized(10_485_760) }), ...tooLarge },
  { name: 'a length of 5,000 and no body', send: hugeHead('Content-Length: 5000'), ...tooLarge },
  { name: 'a length of 10 GB and no body', send: hugeHead('Content-Length: 10000000000'), ...tooLarge },
  {
    name: 'a length of 2^53 and no body',
    send: hugeHead('Content-Length: 9007199254740992'),
    statuses: [413],
    isRefusedByBun: true,
  },
  {
    name: 'chunks, a byte too many',
    send: write({ framing: CHUNKED, body: `${asChunk(sized(4_097))}0\r\n\r\n` }),
    ...tooLarge,
  },
  { name: 'chunks without end', send: write({ framing: CHUNKED, body: asChunk(MEGABYTE).repeat(8) }), ...tooLarge },
  {
    name: 'small chunks without end',
    send: write({ framing: CHUNKED, body: asChunk(MARKER).repeat(2_000) }),
    ...tooLarge,
  },
  {
    name: 'too large, and waiting for 100-continue',
    send: write({ headers: ['Expect: 100-continue'], framing: 'Content-Length: 5000', body: '' }),
    ...tooLarge,
  },
  { name: 'too large by a stranger', send: write({ authorization: null, body: MEGABYTE }), statuses: [401] },
  { name: 'too large to nowhere', send: write({ path: '/nowhere', body: MEGABYTE }), statuses: [404] },
  { name: 'a length and no body', send: hugeHead('Content-Length: 100'), ...tooSlow },
  {
    name: 'half a body',
    send: write({ framing: `Content-Length: ${SMALL.length}`, body: SMALL.slice(0, 50) }),
    ...tooSlow,
  },
  { name: 'a byte at a time, then nothing', send: slowly('Content-Length: 200', [...SMALL.slice(0, 8)]), ...tooSlow },
  { name: 'a byte at a time without end', send: slowly('Content-Length: 200', [...SMALL.slice(0, 150)]), ...tooSlow },
  { name: 'a chunk at a time, then nothing', send: slowly(CHUNKED, [...SMALL.slice(0, 8)].map(asChunk)), ...tooSlow },
  { name: 'chunks that do not end', send: write({ framing: CHUNKED, body: asChunk(SMALL) }), ...tooSlow },
  { name: 'half a chunk', send: write({ framing: CHUNKED, body: `100\r\n${SMALL.slice(0, 50)}` }), ...tooSlow },
  {
    name: 'slow, and a stranger',
    send: write({ authorization: null, framing: 'Content-Length: 100', body: '' }),
    statuses: [401],
  },
  {
    name: 'slow, yet in time',
    send: slowly(`Content-Length: ${SMALL.length}`, [SMALL.slice(0, 10), SMALL.slice(10, 20), SMALL.slice(20)]),
    statuses: [200],
  },
]

export const BAD_BODIES = FOR_SMALL_PROXY.map(request => ({ ...request, isForSmallProxy: true }))
