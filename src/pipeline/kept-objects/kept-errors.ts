/** What is told of files and batches that are not there for the one who asks. */
import { type ProxyError, refuse } from '../../errors.ts'
import type { Collection } from '../../providers/operations.ts'

/** As OpenAI says it, of another project's too. */
export function noSuchObject(collection: Collection, id: string): ProxyError {
  return collection === 'files' ? refuse('fileUnknown', { id }) : refuse('batchUnknown', { id })
}
