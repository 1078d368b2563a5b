/** Many requests at the very same time, of which a limit lets some pass. */
import type { Scenario } from '../standin/scenario.ts'
import type { Standin } from '../standin/server.ts'
import type { Answer } from './client.ts'
import { waitUntil } from './wait-until.ts'

/** The provider answers none before each has reached it or was told to come back. */
export function askAtOnce(
  upstream: Standin,
  count: number,
  ask: (n: number) => Promise<Answer>,
  scenario: Scenario = { kind: 'answer' },
): Promise<Answer[]> {
  const before = upstream.requests.length
  let refused = 0
  upstream.script(async () => {
    await waitUntil('each is asked or refused', () => upstream.requests.length - before + refused >= count)
    return scenario
  })
  const askNoting = async (n: number) => {
    const answer = await ask(n)
    if (answer.status === 429) refused++
    return answer
  }
  return Promise.all(Array.from({ length: count }, (_, n) => askNoting(n)))
}
