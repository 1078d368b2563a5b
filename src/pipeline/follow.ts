/** Follows another request's flight: the same answer, heard live or taken whole, at no cost. */
import { NO_USAGE } from '../catalogue/cost.ts'
import type { Provider } from '../providers/upstream.ts'
import { estimatePromptTokens } from '../tokens/count-tokens.ts'
import { answerHit } from './answer-hit.ts'
import { CLIENT_GONE_STATUS, ClientGone, type ProxyRequest, type ProxyResponse } from './exchange.ts'
import type { FailedAnswer, Flight, Landing, Seat } from './flight.ts'
import type { Ledger, Outcome } from './ledger.ts'
import { listen } from './listen.ts'
import { followHeaders, SSE_TYPE } from './proxy-headers.ts'
import type { ParsedBody } from './read-request.ts'

export interface Following {
  request: ProxyRequest
  parsed: ParsedBody
  provider: Provider
  ledger: Ledger
  flight: Flight
  seat: Seat
  refund(): void
}

/** The response, or what the flight came to where there is nothing in it for anybody but its leader. */
export async function follow(following: Following): Promise<ProxyResponse | { failed: FailedAnswer | null }> {
  const { request, parsed, provider, ledger, flight, seat } = following
  const gone = whenGone(request.signal)
  try {
    if (parsed.stream && (await Promise.race([flight.opened, gone])) === 'stream') return followLive(following)
    const landing = await Promise.race([flight.landed, gone])
    seat.leave()
    if (landing.kind === 'unshared') return { failed: landing.failed }
    return answerHit(matchOf(landing), parsed, provider.pricedAs, ledger)
  } catch (error) {
    seat.leave()
    throw error
  }
}

function matchOf(landing: Exclude<Landing, { kind: 'unshared' }>) {
  return landing.kind === 'match' ? landing.match : { result: 'HIT' as const, entry: landing.entry }
}

function followLive({ request, parsed, provider, ledger, flight, seat, refund }: Following): ProxyResponse {
  const { name, pricedAs } = provider
  const close = (outcome: Pick<Outcome, 'status' | 'usage' | 'cause'>) =>
    ledger.close({ cacheResult: 'HIT', provider: name, pricedAs, model: parsed.model, ...outcome })
  const body = listen(seat, {
    dropUsage: !parsed.includeUsage,
    async onOver(ending) {
      if (ending.kind === 'gone') return close({ status: CLIENT_GONE_STATUS, usage: NO_USAGE })
      if (ending.kind === 'failed') {
        refund()
        return close({ status: ending.failure.status, usage: NO_USAGE, cause: ending.failure })
      }
      const landing = await flight.landed
      const usage =
        landing.kind === 'whole'
          ? { ...NO_USAGE, promptTokens: landing.entry.promptTokens, completionTokens: landing.entry.completionTokens }
          : NO_USAGE
      close({ status: 200, usage })
    },
  })
  ledger.noteHeaders()
  return {
    status: 200,
    headers: { ...SSE_TYPE, ...followHeaders(name, estimatePromptTokens(parsed.body, request.endpoint)) },
    body,
  }
}

/** Rejects when the client goes away. */
export function whenGone(signal: AbortSignal): Promise<never> {
  const gone = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(new ClientGone())
    else signal.addEventListener('abort', () => reject(new ClientGone()), { once: true })
  })
  // Heard only while somebody waits for it.
  gone.catch(() => {})
  return gone
}
