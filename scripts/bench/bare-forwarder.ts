/**
 * The baseline of a stream's first event: forwards to the upstream at the given address, after as many empty round trips to Redis and
 * PostgreSQL as a miss takes. Prints its port.
 */
import { Redis } from 'ioredis'
import postgres from 'postgres'

const [upstreamOrigin] = process.argv.slice(2)
const redis = new Redis(process.env.REDIS_URL ?? '')
const database = postgres(process.env.DATABASE_URL ?? '')

const askRedis = () => redis.get('nothing')
const askPostgres = () => database`select ${1}::integer`

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const body = await request.text()
    // In the pipeline's order: windows, month, then lease and lookup at once.
    await askRedis()
    await askPostgres()
    await Promise.all([askRedis(), askPostgres()])
    const answer = await fetch(`${upstreamOrigin}${new URL(request.url).pathname}`, {
      method: 'POST',
      headers: { authorization: request.headers.get('authorization') ?? '', 'content-type': 'application/json' },
      body,
    })
    return new Response(passOn(answer), { headers: { 'content-type': 'text/event-stream' } })
  },
})

/** Bun does not end some bodies that it forwards by itself. */
async function* passOn({ body }: Response) {
  if (body) yield* body
}

process.stdout.write(`${server.port}\n`)
