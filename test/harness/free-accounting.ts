/** The accounting of a request that is free, for steps of the pipeline that are tried by themselves; `more` watches it. */
import { createAccounting } from '../../src/pipeline/accounting.ts'
import type { RequestAccounting } from '../../src/pipeline/request-accounting.ts'

export function freeAccounting(more: object = {}): RequestAccounting {
  return Object.assign(createAccounting({} as never).open({ arrivedAtMs: 0 } as never, {} as never, null), more)
}
