/** The exchanges of words that each project's verdicts have taught, as of the version in a request's account. */
import { LRUCache } from 'lru-cache'
import type { Account } from '../postgres/admit.ts'
import type { Database } from '../postgres/database.ts'
import { type LearnedExchange, type LearnedList, listExchanges } from '../postgres/equivalences.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import { type LearnedExchanges, NOTHING_LEARNED } from './proof/exchange.ts'

export interface LearnedEquivalences {
  /** Never older than the account's version. Empty when the list is out of reach, or the project's policy does not use it. */
  of(account: Account): Promise<LearnedExchanges>
}

const MAX_PROJECTS = 1_000

interface Known {
  version: number
  exchanges: LearnedExchanges
}

export function createLearnedEquivalences(database: Database, log: Log): LearnedEquivalences {
  const known = new LRUCache<number, Known>({ max: MAX_PROJECTS })
  const loading = new Map<string, Promise<LearnedExchanges>>()

  async function load(projectId: number): Promise<LearnedExchanges> {
    try {
      const list: LearnedList = (await listExchanges(database, projectId)) ?? { version: 0, exchanges: [] }
      const exchanges = indexExchanges(list.exchanges)
      // Two loads may finish in reverse order.
      if (list.version >= (known.get(projectId)?.version ?? 0))
        known.set(projectId, { version: list.version, exchanges })
      return exchanges
    } catch (error) {
      log.warn({ cause: describeCause(error) }, 'what was learned of words could not be read')
      return NOTHING_LEARNED
    }
  }

  return {
    async of({ project_id, semantic_policy, equivalences_version }) {
      if (semantic_policy !== 'judged' || equivalences_version === 0) return NOTHING_LEARNED
      const held = known.get(project_id)
      if (held && held.version >= equivalences_version) return held.exchanges
      // Loads are shared per version: one for an older version may have read an older list.
      const name = `${project_id} ${equivalences_version}`
      const shared = loading.get(name) ?? load(project_id).finally(() => loading.delete(name))
      loading.set(name, shared)
      return shared
    },
  }
}

export function indexExchanges(exchanges: readonly LearnedExchange[]): LearnedExchanges {
  const aroundByWords = new Map(exchanges.map(({ one, other, around }) => [nameOf(one, other), new Set(around)]))
  return {
    allows({ one, other, around }) {
      return aroundByWords.get(nameOf(one, other))?.isSubsetOf(new Set(around)) ?? false
    },
  }
}

/** Sorted here, because the database may sort letters differently. */
function nameOf(one: string, other: string): string {
  return one < other ? `${one}\n${other}` : `${other}\n${one}`
}
