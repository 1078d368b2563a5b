/** The dependencies shared by all operations on files and batches, and the context of a request that creates one. */
import type { KeptReference } from '../../formats/kept-references.ts'
import type { Account } from '../../postgres/admit.ts'
import type { Database } from '../../postgres/database.ts'
import type { PassedBody } from '../../providers/upstream.ts'
import type { RequestAccounting } from '../accounting.ts'
import type { ProxyRequest } from '../exchange.ts'
import type { Stages } from '../stages.ts'

export interface KeptRoom {
  stages: Stages
  database: Database
}

/** An admitted request for a new file or batch. */
export interface MakingContext {
  request: ProxyRequest
  keyHash: string
  account: Account
  accounting: RequestAccounting
  passed: PassedBody
  references: readonly KeptReference[]
}
