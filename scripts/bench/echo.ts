/** A bare Elysia server that returns the parsed body. Prints its port. */
import { Elysia } from 'elysia'

const app = new Elysia().post('/v1/*', ({ body }) => body).listen({ port: 0, hostname: '127.0.0.1' })
process.stdout.write(`${app.server?.port}\n`)
