/** Further cases of the classes that the case files sample. */
import type { ProviderCase } from './case.ts'
import { CALLS } from './siblings/calls.ts'
import { CONTENT } from './siblings/content.ts'
import { ENDS } from './siblings/ends.ts'
import { FAILURES } from './siblings/failures.ts'
import { FRAMES } from './siblings/frames.ts'
import { USAGES } from './siblings/usage.ts'

export const SIBLINGS: readonly ProviderCase[] = [...ENDS, ...USAGES, ...CALLS, ...CONTENT, ...FRAMES, ...FAILURES]
