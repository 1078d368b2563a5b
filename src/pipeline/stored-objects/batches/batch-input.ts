/** Scans a batch's file: counts its requests, and lists their models and the stored objects that they name. */
import { copyInChunks } from '../../../event-loop/chunks.ts'
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
  /** The models that requests name first; the others in `models` are alternatives. */
  primaryModels: string[]
  references: StoredObjectReference[]
  /** The size of each request; empty unless `isSizeNeeded`. */
  sizes: RequestSize[]
}

const READ_LINE = new WorkerJob<BatchLineInput, BatchLine | null>(
  new URL('./jobs.ts', import.meta.url),
  'readBatchLineJob',
)
const NEWLINE = 10

/** Throws a 400 that names the first line that is not a valid request, or lacks a required model. `owner` is the project's id. */
export async function readBatchInput(
  { bytes, parts }: Pick<MultipartForm, 'bytes' | 'parts'>,
  { owner, ...options }: Omit<BatchLineInput, 'bytes' | 'lineNumber'> & { owner: number },
): Promise<BatchInput> {
  const yieldTurn = createYielder()
  const models = new Set<string>()
  const primaryModels = new Set<string>()
  const references: StoredObjectReference[] = []
  const sizes: RequestSize[] = []
  let requests = 0
  let lineNumber = 0
  for (const lineBytes of linesOf({ bytes, parts })) {
    const input = { bytes: lineBytes, lineNumber: ++lineNumber, ...options }
    const line = lineBytes.length > MAX_MAIN_THREAD_BYTES ? await readInWorker(input, owner) : readBatchLine(input)
    if (line) {
      requests++
      for (const model of line.models) models.add(model)
      if (line.primaryModel !== null) primaryModels.add(line.primaryModel)
      for (const reference of line.references) references.push(reference)
      if (line.size) sizes.push(line.size)
    }
    await yieldTurn()
  }
  return { requests, models: [...models], primaryModels: [...primaryModels], references, sizes }
}

/** Yields the requests of a file that `readBatchInput` has checked. Blank lines are skipped. */
export function* listBatchRequests(form: Pick<MultipartForm, 'bytes' | 'parts'>): Generator<BatchRequest> {
  let lineNumber = 0
  for (const bytes of linesOf(form)) {
    lineNumber++
    if (bytes.some(byte => !BLANKS.has(byte))) yield { bytes, errorPrefix: `Line ${lineNumber} of the file: ` }
  }
}

const BLANKS: ReadonlySet<number> = new Set([...' \t\r'].map(blank => blank.charCodeAt(0)))

function* linesOf({ bytes, parts }: Pick<MultipartForm, 'bytes' | 'parts'>): Generator<Uint8Array> {
  for (const { start, end } of parts.filter(({ name, isFile }) => isFile && name === 'file')) {
    for (let at = start; at < end; ) {
      const next = bytes.indexOf(NEWLINE, at)
      const lineEnd = next < 0 || next > end ? end : next
      yield bytes.subarray(at, lineEnd)
      at = lineEnd + 1
    }
  }
}

/** Reads a long line in a worker. The worker gets a copy, because the form is forwarded afterwards. */
async function readInWorker(input: BatchLineInput, owner: number): Promise<BatchLine | null> {
  const bytes = await copyInChunks(input.bytes)
  return workerPool.run(READ_LINE, { ...input, bytes }, { owner, transfer: [bytes.buffer] })
}
