/** The model names of the aggregator's own list. It is fetched when a request may need it, and renewed every ten minutes of use. */
import { monotonicMs } from '../event-loop/clock.ts'
import { withTimeout } from '../event-loop/timeouts.ts'

export interface ModelNameIndex {
  names: readonly string[]
  /** Returns whether the list has the name. Requests may omit what lists write, such as Ollama's `:latest` or Google's `models/`. */
  has(name: string): boolean
  /** Returns the listed names that are this name with a vendor prefix. */
  findWithVendor(name: string): readonly string[]
  /** True when the list has names without a vendor prefix. Then the aggregator accepts such names. */
  hasUnprefixedNames: boolean
}

export interface AggregatorModelNames {
  /** The list as last fetched; null until the first fetch succeeds. */
  readonly list: ModelNameIndex | null
  /** True when names are forwarded unchanged while the list is unknown. */
  readonly forwardsUnlistedNames: boolean
  /**
   * Fetches the list if it is unknown or old. Returns undefined when there is nothing to wait for. Otherwise returns a promise that resolves
   * when the list is known, the fetch has failed or the wait limit has passed.
   */
  refresh(): Promise<unknown> | undefined
}

/** Longest time requests wait for a fetch, from its start. */
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
  let isFetching = false
  let pending: Promise<unknown> | undefined
  let dueAtMs = Number.NEGATIVE_INFINITY

  async function renew(): Promise<void> {
    isFetching = true
    try {
      list = indexModelNames(await fetchNames())
      dueAtMs = monotonicMs() + RENEW_AFTER_MS
    } catch (error) {
      onFailed(error)
      dueAtMs = monotonicMs() + RETRY_AFTER_MS
    } finally {
      isFetching = false
    }
  }

  return {
    forwardsUnlistedNames,
    get list() {
      return list
    },
    refresh() {
      if (!isFetching && monotonicMs() >= dueAtMs) {
        // After the wait limit, requests do not wait for the rest of the fetch.
        pending = withTimeout(WAIT_MS, renew())
          .catch(() => {})
          .finally(() => {
            pending = undefined
          })
      }
      return list === null ? pending : undefined
    },
  }
}

/** Indexes a list of names. Throws for an empty list, which does not tell which names exist. */
export function indexModelNames(listed: readonly string[]): ModelNameIndex {
  const all = [...new Set(listed.map(name => name.replace(/^models\//, '')))]
  if (all.length === 0) throw new Error('model list of the aggregator has no names')
  // A gateway's list may contain wildcards such as `openai/*`.
  const names = all.filter(name => !name.endsWith('*'))
  const prefixes = all.filter(name => name.endsWith('*')).map(name => name.slice(0, -1))
  const known = new Set([...listed, ...names, ...names.map(name => name.replace(/:latest$/, ''))])
  const byNameWithoutVendor = Map.groupBy(names, name => name.slice(name.indexOf('/') + 1))
  return {
    names,
    has: name => known.has(name) || prefixes.some(prefix => name.startsWith(prefix)),
    findWithVendor: name => (byNameWithoutVendor.get(name) ?? []).filter(listedAs => listedAs !== name),
    hasUnprefixedNames: all.some(name => !name.includes('/')),
  }
}
