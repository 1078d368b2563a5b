/** The dependencies of the pipeline's steps. */
import type { Admission } from '../admission/admission.ts'
import type { Cache } from '../cache/cache.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Leads } from '../coalescing/leads.ts'
import type { SharedCalls } from '../coalescing/shared-calls.ts'
import type { LargeBodyReader } from '../large-bodies/read-large-body.ts'
import type { ModelRouter } from '../providers/model-router.ts'
import type { VectorStore } from '../vector-cache/vector-store.ts'
import type { Accounting } from './accounting.ts'
import type { VectorCalls } from './embeddings/vector-calls.ts'
import type { ReferenceCheck } from './kept-objects/check-references.ts'

export interface Stages {
  admission: Admission
  largeBodies: LargeBodyReader
  accounting: Accounting
  modelRouter: ModelRouter
  cache: Cache
  /** Shared calls of this process. */
  calls: SharedCalls
  /** Decides, across processes, which one leads a call. */
  leads: Leads
  /** Shared calls for the vectors of single inputs. */
  vectorCalls: VectorCalls
  vectors: VectorStore
  catalogue: Catalogue
  checkReferences: ReferenceCheck
}
