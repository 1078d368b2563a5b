/**
 * The floor of a stream's first event: forwards to the upstream at the address given, after the round trips that a miss takes to
 * Redis and to PostgreSQL, with nothing asked there and nothing done in between. Prints its port.
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
    // Windows, claim, admission and lookup, all at once.
    await Promise.all([askRedis(), askRedis(), askPostgres(), askPostgres()])
    const answer = await fetch(`${upstreamOrigin}${new URL(request.url).pathname}`, {
      method: 'POST',
      headers: { authorization: request.headers.get('authorization') ?? '', 'content-type': 'application/json' },
      body,
    })
    return new Response(passOn(answer), { headers: { 'content-type': 'text/event-stream' } })
  },
})

/** Bun never ends some of the bodies that it is left to pass on by itself. */
async function* passOn({ body }: Response) {
  if (body) yield* body
}

process.stdout.write(`${server.port}\n`)
