/** What is told of files and batches that are not there for the one who asks. */
import { ProxyError } from '../../errors.ts'
import type { Collection } from '../../providers/operations.ts'

/** As OpenAI says it, of another project's too. */
export function noSuchObject(collection: Collection, id: string): ProxyError {
  return new ProxyError({
    status: 404,
    code: 'not_found',
    message: collection === 'files' ? `No such File object: ${id}` : `No batch found with id '${id}'.`,
    param: 'id',
  })
}
