/** Whether keys of another gateway are accepted, which may have any format. Read from the database at the start and every two seconds. */
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import type { Log } from '../telemetry/log.ts'

const REFRESH_EVERY_MS = 2_000
const PART = 'imported_keys'

export interface ImportedKeys {
  /** Returns whether any imported key is valid. If not, a key of another format is rejected without a database call. */
  areAccepted(): boolean
  close(): void
}

export async function watchImportedKeys(
  database: Pick<Database, 'call'>,
  { failures }: Pick<Log, 'failures'>,
  refreshMs = REFRESH_EVERY_MS,
): Promise<ImportedKeys> {
  const read = () => callFunction(database, 'has_imported_keys', {})
  let areAccepted = await read()
  let isReading = false
  const timer = setInterval(async () => {
    if (isReading) return
    isReading = true
    try {
      areAccepted = await read()
      failures.recover('database', PART)
    } catch (error) {
      failures.report('database', error, 'the use of imported keys could not be read', { part: PART })
    } finally {
      isReading = false
    }
  }, refreshMs)
  timer.unref()
  return { areAccepted: () => areAccepted, close: () => clearInterval(timer) }
}
