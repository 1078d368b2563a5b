/** The recorder of a request that is free, for steps of the pipeline that are tested by themselves; `more` watches it. */
import { createAccounting } from '../../src/pipeline/accounting/accounting.ts'
import type { RequestRecorder } from '../../src/pipeline/accounting/request-recorder.ts'

export function freeRecorder(more: object = {}): RequestRecorder {
  return Object.assign(createAccounting({} as never).open({ arrivedAtMs: 0 } as never, {} as never, null), more)
}
