/** A hook that returns decisions chosen by a test, and records its requests. */
import { Webhook } from 'standardwebhooks'

export const HOOK_SECRET = `whsec_${Buffer.alloc(32, 'hooks').toString('base64')}`

export interface RecordedHookRequest {
  type: 'before' | 'after'
  request_id: string
  operation: string
  model: string
  project: { id: string; name: string }
  key: { id: string }
  user: string | null
  stored?: boolean
  request: Record<string, unknown>
  answer?: unknown
}

/** A decision, or any other response. */
export type ScriptedDecision = Record<string, unknown> | Response | Promise<Response>

export interface TestHook {
  url: string
  /** Settings that make a proxy use the hook. */
  environment: Record<string, string>
  requests: RecordedHookRequest[]
  /** The request bodies, unparsed. */
  bodies: string[]
  /** Sets the decisions of later requests. The default allows each request, with rules version `1`. */
  setDecision(decide: (request: RecordedHookRequest) => ScriptedDecision): void
  reset(): void
  stop(): Promise<void>
}

export function startHook(): TestHook {
  const requests: RecordedHookRequest[] = []
  const bodies: string[] = []
  const allow = () => ({ verdict: 'allow', policy: '1' })
  let decide: (request: RecordedHookRequest) => ScriptedDecision = allow
  const webhook = new Webhook(HOOK_SECRET)
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const body = await request.text()
      try {
        webhook.verify(body, Object.fromEntries(request.headers))
      } catch {
        return new Response(null, { status: 401 })
      }
      const question = JSON.parse(body)
      requests.push(question)
      bodies.push(body)
      const decision = await decide(question)
      return decision instanceof Response ? decision : Response.json(decision)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/check`,
    environment: { HOOK_URL: `http://127.0.0.1:${server.port}/check`, HOOK_SECRET },
    requests,
    bodies,
    setDecision(next) {
      decide = next
    },
    reset() {
      requests.length = 0
      bodies.length = 0
      decide = allow
    },
    stop: () => server.stop(true),
  }
}
