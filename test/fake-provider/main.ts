/** Runs the fake provider as a separate process: `bun test/fake-provider/main.ts --port 0 --flavour aggregator`. */

import { parseArgs } from 'node:util'
import type { Flavour } from './scenario.ts'
import { startFakeProvider } from './server.ts'

const FLAVOURS: Flavour[] = ['openai', 'aggregator', 'groq']

const { values } = parseArgs({ options: { port: { type: 'string' }, flavour: { type: 'string' } } })
const flavour = FLAVOURS.find(known => known === (values.flavour ?? 'openai'))
if (flavour === undefined) throw new Error(`--flavour must be one of ${FLAVOURS.join(', ')}`)

const fakeProvider = await startFakeProvider({ flavour, port: Number(values.port ?? 0), keepsRequests: false })
process.stdout.write(`${JSON.stringify({ baseUrl: fakeProvider.baseUrl })}\n`)
