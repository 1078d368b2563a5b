/** Scans a batch's file: how many requests it holds, their models, and what kept objects they name. */
import { copyInChunks } from '../../../event-loop/copy-in-chunks.ts'
import { createYielder } from '../../../event-loop/work-scheduler.ts'
import { MAX_MAIN_THREAD_BYTES, WorkerJob, workerPool } from '../../../event-loop/worker-pool.ts'
import type { MultipartForm } from '../../../formats/multipart-form.ts'
import type { StoredObjectReference } from '../../../formats/stored-object-references.ts'
import type { BatchRequest } from '../../hook-checks/check-stored-objects.ts'
import type { RequestSize } from '../../spending/max-tokens.ts'
import { type BatchLine, type BatchLineInput, readBatchLine } from './batch-line.ts'

export interface BatchInput {
  requests: number
  models: string[]
  /** Those of them that requests name first; the others are alternatives. */
  primaryModels: string[]
  references: StoredObjectReference[]
  /** Of each request; empty when they were not looked for. */
  sizes: RequestSize[]
}

const READ_LINE = new WorkerJob<BatchLineInput, BatchLine | null>(
  new URL('../../jobs.ts', import.meta.url),
  'readBatchLineJob',
)
const LINE_FEED = 10

/** Throws a 400 that names the first line which is no request, or which names no model where it must. `owner` is the project. */
export async function readBatchInput(
  { bytes, parts }: Pick<MultipartForm, 'bytes' | 'parts'>,
  { owner, ...options }: Omit<BatchLineInput, 'bytes' | 'lineNumber'> & { owner: number },
): Promise<BatchInput> {
  const yieldTurn = createYielder()
  const models = new Set<string>()
  const asked = new Set<string>()
  const references: StoredObjectReference[] = []
  const sizes: RequestSize[] = []
  let requests = 0
  let number = 0
  for (const lineBytes of linesOf({ bytes, parts })) {
    const input = { bytes: lineBytes, lineNumber: ++number, ...options }
    const line = lineBytes.length > MAX_MAIN_THREAD_BYTES ? await readAside(input, owner) : readBatchLine(input)
    if (line) {
      requests++
      for (const model of line.models) models.add(model)
      if (line.primaryModel !== null) asked.add(line.primaryModel)
      for (const reference of line.references) references.push(reference)
      if (line.size) sizes.push(line.size)
    }
    await yieldTurn()
  }
  return { requests, models: [...models], primaryModels: [...asked], references, sizes }
}

/** Those that hold a request, of a file that was read. */
export function* listBatchRequests(form: Pick<MultipartForm, 'bytes' | 'parts'>): Generator<BatchRequest> {
  let number = 0
  for (const bytes of linesOf(form)) {
    number++
    if (bytes.some(byte => !BLANK.has(byte))) yield { bytes, errorPrefix: `Line ${number} of the file: ` }
  }
}

const BLANK: ReadonlySet<number> = new Set([...' \t\r'].map(blank => blank.charCodeAt(0)))

function* linesOf({ bytes, parts }: Pick<MultipartForm, 'bytes' | 'parts'>): Generator<Uint8Array> {
  for (const { start, end } of parts.filter(({ name, isFile }) => isFile && name === 'file')) {
    for (let at = start; at < end; ) {
      const next = bytes.indexOf(LINE_FEED, at)
      const lineEnd = next < 0 || next > end ? end : next
      yield bytes.subarray(at, lineEnd)
      at = lineEnd + 1
    }
  }
}

/** The worker gets a copy, because the form is still to be forwarded. */
async function readAside(input: BatchLineInput, owner: number): Promise<BatchLine | null> {
  const bytes = await copyInChunks(input.bytes)
  return workerPool.run(READ_LINE, { ...input, bytes }, { owner, transfer: [bytes.buffer] })
}
