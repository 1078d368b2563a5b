/**
 * Records exchanges with a real upstream: `bun run record --provider openai [--upstream URL] [--port 4010] [--to DIR]`. Point a client at
 * the address that it prints, with its own key for the vendor; each exchange becomes a file without keys and account ids. Read what
 * was written before it is committed: prompts and answers stay as they are.
 */
import { parseArgs } from 'node:util'
import { type Exchange, OWN_FOLDER } from './exchanges/exchange.ts'
import { startRecorder } from './exchanges/recorder.ts'

/** Without /v1. */
const UPSTREAMS: Record<Exchange['provider'], string> = {
  openai: 'https://api.openai.com',
  anthropic: 'https://api.anthropic.com',
  groq: 'https://api.groq.com/openai',
  aggregator: 'https://openrouter.ai/api',
}

const { values } = parseArgs({
  options: {
    provider: { type: 'string', default: 'openai' },
    upstream: { type: 'string' },
    port: { type: 'string', default: '4010' },
    to: { type: 'string', default: OWN_FOLDER },
  },
})
const provider = (Object.keys(UPSTREAMS) as Exchange['provider'][]).find(name => name === values.provider)
if (!provider) throw new Error(`--provider must be one of ${Object.keys(UPSTREAMS).join(', ')}`)

const upstream = (values.upstream ?? UPSTREAMS[provider]).replace(/\/(v1\/?)?$/, '')
const print = (line: string) => process.stdout.write(`${line}\n`)
const recorder = startRecorder({ upstream, provider, folder: values.to, port: Number(values.port), onWritten: print })
print(`Recording ${upstream}. Base address: ${recorder.baseUrl} (Anthropic’s clients: without /v1)`)
