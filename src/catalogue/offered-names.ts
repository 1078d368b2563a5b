/** The names of the aggregator's own list: read when a request's name may be one of them, and again now and then. */
import { steadyMs } from '../event-loop/clock.ts'
import { withinTimeLimit } from '../event-loop/time-limit.ts'

export interface NameList {
  names: readonly string[]
  /** Whether it has this name, which may leave out what lists write and requests need not: Ollama's `:latest`, Google's `models/`. */
  has(name: string): boolean
  /** Its names that are this one with a vendor in front. */
  withVendor(name: string): readonly string[]
  /** Whether it has names without a vendor: then this aggregator is asked by such names. */
  hasPlain: boolean
}

export interface OfferedNames {
  /** As last read; null while that is not known. */
  readonly list: NameList | null
  /** Whether a name is asked for as it is while the list is not known. */
  readonly keepsNames: boolean
  /**
   * Reads it, if it is not known or old. Undefined when there is nothing to wait for; else a promise that resolves when it is known, cannot
   * be read, or takes too long.
   */
  read(): Promise<unknown> | undefined
}

/** How long requests wait for it, from when it is asked for. */
const WAIT_MS = 2_000
const RENEW_AFTER_MS = 600_000
const RETRY_AFTER_MS = 5_000

export interface OfferedNamesOptions extends Pick<OfferedNames, 'keepsNames'> {
  fetchNames(): Promise<readonly string[]>
  onFailed(reason: unknown): void
}

export function createOfferedNames({ keepsNames, fetchNames, onFailed }: OfferedNamesOptions): OfferedNames {
  let list: NameList | null = null
  let isReading = false
  let waiting: Promise<unknown> | undefined
  let dueAtMs = Number.NEGATIVE_INFINITY

  async function renew(): Promise<void> {
    isReading = true
    try {
      list = indexNames(await fetchNames())
      dueAtMs = steadyMs() + RENEW_AFTER_MS
    } catch (error) {
      onFailed(error)
      dueAtMs = steadyMs() + RETRY_AFTER_MS
    } finally {
      isReading = false
    }
  }

  return {
    keepsNames,
    get list() {
      return list
    },
    read() {
      if (!isReading && steadyMs() >= dueAtMs) {
        // Once it is over, nobody waits for what has not come.
        waiting = withinTimeLimit(WAIT_MS, renew())
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
export function indexNames(listed: readonly string[]): NameList {
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
    withVendor: name => (byEnd.get(name) ?? []).filter(listedAs => listedAs !== name),
    hasPlain: all.some(name => !name.includes('/')),
  }
}
