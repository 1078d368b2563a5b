/** Sends many requests at the same moment. A limit admits some of them. */
import type { Scenario } from '../fake-provider/scenario.ts'
import type { FakeProvider } from '../fake-provider/server.ts'
import type { Answer } from './client.ts'
import { waitUntil } from './wait-until.ts'

/** The provider responds only after each request has arrived at it or was rejected. */
export function sendSimultaneously(
  upstream: FakeProvider,
  count: number,
  ask: (n: number) => Promise<Answer>,
  scenario: Scenario = { kind: 'answer' },
): Promise<Answer[]> {
  const before = upstream.requests.length
  let rejected = 0
  upstream.script(async () => {
    await waitUntil('each request arrived or was rejected', () => upstream.requests.length - before + rejected >= count)
    return scenario
  })
  const askCounting = async (n: number) => {
    const answer = await ask(n)
    if (answer.status === 429) rejected++
    return answer
  }
  return Promise.all(Array.from({ length: count }, (_, n) => askCounting(n)))
}
