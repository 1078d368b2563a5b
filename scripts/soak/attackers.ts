/** `bun scripts/soak/attackers.ts '{"origin","key","kinds"}'`: attacks from another address until it is stopped. */
import { connect, type Socket } from 'node:net'

interface Orders {
  origin: string
  /** A test key. */
  key: string
  kinds: string[]
}

const { origin, key, kinds }: Orders = JSON.parse(process.argv[2] ?? '{}')
const { hostname, port } = new URL(origin)
/** Not the paying client's address; the proxy trusts one reverse proxy in front. */
const ADDRESS = { 'x-forwarded-for': '203.0.113.66' }
const MIB = 1024 * 1024
const LARGE_BYTES = 31 * MIB
const MODEL = 'openai/gpt-4o-mini'

const ATTACKS: Record<string, () => unknown> = {
  'large bodies': () => repeat(2, 50, sendLargeBody),
  prompts: () => repeat(1, 400, n => ask({ messages: [{ role: 'user', content: PROMPTS[n % PROMPTS.length] }] })),
  schemas: () =>
    repeat(1, 400, n => ask({ messages: [{ role: 'user', content: `${n}` }], response_format: schemaFormat(n) })),
  'own large bodies': () => repeat(1, 400, n => askText(ownBody(n))),
  'idle connections': () => Promise.all(Array.from({ length: 1_000 }, idle)),
  'streams never read': () => repeat(20, 1_000, neverRead),
}

async function repeat(count: number, pauseMs: number, act: (n: number) => Promise<unknown>): Promise<void> {
  let n = 0
  await Promise.all(
    Array.from({ length: count }, async () => {
      for (;;) {
        await act(n++).catch(() => {})
        await Bun.sleep(pauseMs)
      }
    }),
  )
}

/** Sent whole, whatever the response, with an unknown key. */
function sendLargeBody(n: number): Promise<void> {
  const socket = open()
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    'host: proxy',
    `x-forwarded-for: 203.0.113.${n % 250}`,
    `authorization: Bearer lgw_proj_${crypto.randomUUID().replaceAll('-', '').slice(0, 31)}`,
    'content-type: application/json',
    `content-length: ${LARGE_BYTES}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  const part = Buffer.from('"k":1,'.repeat(Math.floor(MIB / 6)))
  return new Promise(resolve => {
    let sent = 0
    const push = () => {
      while (sent < LARGE_BYTES) {
        sent += part.length
        if (!socket.write(part)) return
      }
      socket.end()
    }
    socket
      .on('drain', push)
      .on('close', () => resolve())
      .resume()
    push()
  })
}

function open(): Socket {
  return connect(Number(port), hostname).on('error', () => {})
}

function idle(): void {
  const again = () => setTimeout(idle, 500)
  open().on('close', again)
}

async function neverRead(n: number): Promise<void> {
  const socket = open()
  const body = JSON.stringify({
    model: MODEL,
    stream: true,
    n: 8,
    messages: [{ role: 'user', content: `Describe ${n} ${crypto.randomUUID()}. ${'word '.repeat(2_000)}` }],
  })
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    'host: proxy',
    'x-forwarded-for: 203.0.113.67',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  socket.pause()
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  await Bun.sleep(20_000)
  socket.destroy()
}

function ask(fields: Record<string, unknown>): Promise<unknown> {
  return askText(JSON.stringify({ model: MODEL, ...fields }))
}

async function askText(body: string): Promise<unknown> {
  const headers = { ...ADDRESS, authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return (await fetch(`${origin}/v1/chat/completions`, { method: 'POST', headers, body })).arrayBuffer()
}

const PROMPTS = [
  'a\u0315\u0300\u05ae\u0301\u0316'.repeat(3_200),
  'I '.repeat(8_000),
  `${')'.repeat(15_000)} x times 5`,
  'Ⅷ㎯ﬃ'.repeat(5_000),
  '1,'.repeat(8_000),
  `${'not '.repeat(1_000)}what is the capital of ${'France and '.repeat(800)}?`,
  '-'.repeat(16_000),
  '"'.repeat(16_000),
  `${'(a '.repeat(5_000)}`,
  `${'https://a.b/'.repeat(1_300)}`,
]

function schemaFormat(n: number) {
  const wide = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, i) => [`p${i}`, { type: 'string', minLength: 500, maxLength: 600 }]),
  )
  let deep: Record<string, unknown> = { type: 'string' }
  for (let i = 0; i < 60; i++) deep = { type: 'object', properties: { a: deep, b: deep }, required: ['a', 'b'] }
  const schemas = [
    { type: 'object', properties: wide, required: Object.keys(wide) },
    { type: 'array', minItems: 100_000, items: { type: 'string', minLength: 100 } },
    { type: 'string', pattern: '^(a+)+$', minLength: 10_000 },
    { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] },
    {
      anyOf: Array.from({ length: 5_000 }, (_, i) => ({
        type: 'object',
        properties: { [`k${i}`]: { const: i } },
        required: [`k${i}`],
      })),
    },
    { type: 'string', pattern: '(x+x+)+y', maxLength: 5 },
  ]
  return { type: 'json_schema', json_schema: { name: 's', schema: schemas[n % schemas.length] } }
}

/** Bodies that its key may send. */
function ownBody(n: number): string {
  const start = `{"model":"${MODEL}","messages":[{"role":"user","content":"Size ${n}"}],`
  const shapes = [
    () => `${start}"x":{${Array.from({ length: 90_000 }, (_, i) => `"k${i % 20_000}_${i}":${i}`).join(',')}}}`,
    () => `${start}"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
    () => `${start}"x":"${'x'.repeat(30 * MIB)}"}`,
    () =>
      `{"model":"${MODEL}","messages":[${Array.from({ length: 40_000 }, (_, i) => `{"role":"user","content":"m${i} ${n}"}`).join(',')}]}`,
    () => `${start}"x":[${'1,'.repeat(900_000)}1]}`,
    () => `${start}"x":"${'\\u0041'.repeat(5 * MIB)}"}`,
  ]
  return (shapes[n % shapes.length] as () => string)()
}

for (const kind of kinds) void ATTACKS[kind]?.()
process.stdout.write('attacking\n')
