/** What a request does while it is being counted, on the strength of its key as last known: finds its route, its name, its seat. */
import type { Foresight } from '../admission/admission.ts'
import type { Cache } from '../cache/cache.ts'
import type { Question } from '../cache/question.ts'
import { ProxyError } from '../errors.ts'
import type { Routes } from '../providers/routes.ts'
import type { Provider } from '../providers/upstream.ts'
import { toQuestion, type Wanted } from './arrived.ts'
import { type Boarded, type Boarding, disembark } from './boarding.ts'
import type { ProxyRequest } from './exchange.ts'

export interface Foreseen extends Foresight {
  /** Who would answer, or why nobody would; undefined until the key is known. */
  provider(): Provider | ProxyError | undefined
  /** What the cache is asked; undefined where it has no part in the answer as a whole. */
  question(): Question | undefined
  /** The seat that was taken; null where none was. */
  boarded(): Boarded | null
  /** Gives up what was begun. */
  cancel(): void
}

export interface ForeseeOptions {
  cache: Cache
  routes: Routes
  boarding: Boarding
}

export function foresee(request: ProxyRequest, wanted: Wanted, { cache, routes, boarding }: ForeseeOptions): Foreseen {
  const { model, stream } = wanted.parsed
  let provider: Provider | ProxyError | undefined
  let question: Question | undefined
  let boarded: Boarded | null = null

  function cancel(): void {
    if (boarded) disembark(boarded)
    boarded = null
  }

  return {
    provider: () => provider,
    question: () => question,
    boarded: () => boarded,
    cancel,
    entryOf(account) {
      cancel()
      question = undefined
      provider = routes.resolve(model, account)
      if (provider instanceof ProxyError || wanted.embeddings) return null
      question = toQuestion(request, wanted, account, provider)
      return wanted.control.lookup ? question.entryName : null
    },
    meanwhile() {
      if (question && !cache.expectsExact(question)) boarded = boarding.board(question, stream)
    },
  }
}
