/** The errors for files and batches that the project does not have. */
import { type ProxyError, refuse } from '../../errors.ts'
import type { Collection } from '../../providers/operations.ts'

/** OpenAI's own 404. Another project's object gets the same, so that ids cannot be probed. */
export function noSuchObject(collection: Collection, id: string): ProxyError {
  return collection === 'files' ? refuse('fileUnknown', { id }) : refuse('batchUnknown', { id })
}
