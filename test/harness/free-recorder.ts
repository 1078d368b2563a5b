/** The recorder of a free request, for unit tests of pipeline steps; `more` overrides its methods. */
import { createAccounting } from '../../src/pipeline/accounting/accounting.ts'
import type { RequestRecorder } from '../../src/pipeline/accounting/request-recorder.ts'

export function freeRecorder(more: object = {}): RequestRecorder {
  return Object.assign(createAccounting({} as never).open({ arrivedAtMs: 0 } as never, {} as never, null), more)
}
