/**
 * The versions that requests name in X-Proxy-Cache-Version. Of each name, only the responses of the newest version are stored and served. The
 * database knows which one that is, so that all processes agree from one request to the next.
 */

import { BackgroundWork } from '../event-loop/background-work.ts'
import { createBatcher } from '../event-loop/batcher.ts'
import { TimeoutError, withTimeout } from '../event-loop/timeouts.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { entryName, type FastStore, vectorEntryName } from '../stores/fast-store.ts'
import type { Log } from '../telemetry/log.ts'
import type { CacheControl } from './cache-control.ts'

export interface CacheVersions {
  /**
   * Resolves to true if the request names a version that is not the newest of its name, or if that could not be checked. With `mayRecord`,
   * the version is recorded, and one that is new and not older supersedes the former one, whose responses are deleted. Never rejects.
   */
  isOld(control: CacheControl, resolvedKey: ResolvedKey, options: { mayRecord: boolean }): Promise<boolean>
  /** Resolves when no purge is running. */
  flush(): Promise<void>
}

const MAX_BATCH = 50
/** Longest time that the first request of a new version waits for the purge. Lookups find no older version in any case. */
const PURGE_WAIT_MS = 250
/** Entries and vectors deleted per transaction. */
const PURGE_ROWS = 1_000
/** The part name of versions in the failures `lookup` and `sweep`. */
const part = 'versions'

interface CacheStores {
  database: Database
  store: FastStore
}

interface CacheVersionsOptions extends CacheStores {
  /** A version is found within the time of a cache lookup. */
  lookupTimeoutMs: number
  log: Log
}

interface NamedVersion {
  of_project: number
  for_test: boolean
  in_namespace: string
  named: string
}

export function createCacheVersions({ database, store, lookupTimeoutMs, log }: CacheVersionsOptions): CacheVersions {
  const purging = new BackgroundWork()
  const find = createBatcher({
    run: (versions: readonly NamedVersion[]) =>
      callFunction(database, 'find_cache_versions', {
        project_ids: versions.map(({ of_project }) => of_project),
        tests: versions.map(({ for_test }) => for_test),
        namespaces: versions.map(({ in_namespace }) => in_namespace),
        versions: versions.map(({ named }) => named),
      }),
    maxItems: MAX_BATCH,
    timeoutMs: lookupTimeoutMs,
    createTimeoutError: () => new TimeoutError(lookupTimeoutMs),
  })

  async function checkVersion(version: NamedVersion, mayRecord: boolean): Promise<boolean> {
    const found = await find(version)
    if (found.is_recorded || !mayRecord) return found.is_old
    const isOld = await withTimeout(lookupTimeoutMs, callFunction(database, 'name_cache_version', version))
    if (!isOld) {
      const purge = purging.add(purgeOldVersions({ database, store }).catch(reportPurge))
      await withTimeout(PURGE_WAIT_MS, purge).catch(() => {})
    }
    return isOld
  }

  const reportPurge = (error: unknown) =>
    log.failures.report('sweep', error, 'responses of an old version are not deleted yet', { part })

  return {
    async isOld({ namespace, version }, { project_id, key_type }, { mayRecord }) {
      if (version === '') return false
      const named = { of_project: project_id, for_test: key_type === 'test', in_namespace: namespace, named: version }
      try {
        const isOld = await checkVersion(named, mayRecord)
        log.failures.recover('lookup', part)
        return isOld
      } catch (error) {
        log.failures.report('lookup', error, 'a version could not be checked: the cache is not used', { part })
        return true
      }
    },
    flush: () => purging.settled(),
  }
}

/**
 * Deletes what is stored under superseded versions, in the database and in the fast store, one batch after the other. Where the fast store
 * is unavailable, copies remain until they expire; no request finds them.
 */
export async function purgeOldVersions({ database, store }: CacheStores): Promise<void> {
  let deleted: number
  do {
    deleted = 0
    for (const old of await callFunction(database, 'purge_old_versions', { max_rows: PURGE_ROWS })) {
      const { project_id: id, cache_generation: generation } = old
      const entries = old.entries.map(hash => entryName(id, generation, hash))
      const names = [...entries, ...old.vectors.map(name => vectorEntryName(id, generation, name))]
      deleted += names.length
      await Promise.all(names.map(name => store.deleteEntry(name).catch(() => {})))
    }
  } while (deleted >= PURGE_ROWS)
}
