/** The names of the aggregator's own list: read when a request's name may be one of them, and again now and then. */
import { monotonicMs } from '../event-loop/clock.ts'
import { withTimeout } from '../event-loop/timeouts.ts'

export interface ModelNameIndex {
  names: readonly string[]
  /** Whether it has this name, which may leave out what lists write and requests need not: Ollama's `:latest`, Google's `models/`. */
  has(name: string): boolean
  /** Its names that are this one with a vendor in front. */
  findWithVendor(name: string): readonly string[]
  /** Whether it has names without a vendor: then this aggregator is asked by such names. */
  hasUnprefixedNames: boolean
}

export interface AggregatorModelNames {
  /** As last read; null while that is not known. */
  readonly list: ModelNameIndex | null
  /** Whether a name is asked for as it is while the list is not known. */
  readonly forwardsUnlistedNames: boolean
  /**
   * Reads it, if it is not known or old. Undefined when there is nothing to wait for; else a promise that resolves when it is known, cannot
   * be read, or takes too long.
   */
  refresh(): Promise<unknown> | undefined
}

/** How long requests wait for it, from when it is asked for. */
const WAIT_MS = 2_000
const RENEW_AFTER_MS = 600_000
const RETRY_AFTER_MS = 5_000

export interface AggregatorModelNamesOptions extends Pick<AggregatorModelNames, 'forwardsUnlistedNames'> {
  fetchNames(): Promise<readonly string[]>
  onFailed(reason: unknown): void
}

export function createAggregatorModelNames({
  forwardsUnlistedNames,
  fetchNames,
  onFailed,
}: AggregatorModelNamesOptions): AggregatorModelNames {
  let list: ModelNameIndex | null = null
  let isReading = false
  let waiting: Promise<unknown> | undefined
  let dueAtMs = Number.NEGATIVE_INFINITY

  async function renew(): Promise<void> {
    isReading = true
    try {
      list = indexModelNames(await fetchNames())
      dueAtMs = monotonicMs() + RENEW_AFTER_MS
    } catch (error) {
      onFailed(error)
      dueAtMs = monotonicMs() + RETRY_AFTER_MS
    } finally {
      isReading = false
    }
  }

  return {
    forwardsUnlistedNames,
    get list() {
      return list
    },
    refresh() {
      if (!isReading && monotonicMs() >= dueAtMs) {
        // Once it is over, nobody waits for what has not come.
        waiting = withTimeout(WAIT_MS, renew())
          .catch(() => {})
          .finally(() => {
            waiting = undefined
          })
      }
      return list === null ? waiting : undefined
    },
  }
}

/** For an upstream that lists nothing, an error: then nothing is known of its names. */
export function indexModelNames(listed: readonly string[]): ModelNameIndex {
  const all = [...new Set(listed.map(name => name.replace(/^models\//, '')))]
  if (all.length === 0) throw new Error('the list has no names')
  // A gateway's list may have `openai/*`, for whatever it passes on.
  const names = all.filter(name => !name.endsWith('*'))
  const beginnings = all.filter(name => name.endsWith('*')).map(name => name.slice(0, -1))
  const known = new Set([...listed, ...names, ...names.map(name => name.replace(/:latest$/, ''))])
  const byEnd = Map.groupBy(names, name => name.slice(name.indexOf('/') + 1))
  return {
    names,
    has: name => known.has(name) || beginnings.some(beginning => name.startsWith(beginning)),
    findWithVendor: name => (byEnd.get(name) ?? []).filter(listedAs => listedAs !== name),
    hasUnprefixedNames: all.some(name => !name.includes('/')),
  }
}
