/** Scans a batch's file: how many requests it holds, their models, and what kept objects they name. */
import { copyInTurns } from '../../event-loop/copy-in-turns.ts'
import { Job, LONGEST_ON_LOOP, offLoop } from '../../event-loop/off-loop.ts'
import { createYieldTurn } from '../../event-loop/turns.ts'
import type { KeptReference } from '../../formats/kept-references.ts'
import type { Form } from '../../formats/read-form.ts'
import type { LineToCheck } from '../checks/check-kept.ts'
import type { RequestSize } from '../spending/max-tokens.ts'
import { type BatchLine, type BatchLineInput, readBatchLine } from './read-batch-line.ts'

export interface BatchInput {
  requests: number
  models: string[]
  /** Those of them that requests name first; the others are alternatives. */
  asked: string[]
  references: KeptReference[]
  /** Of each request; empty when they were not looked for. */
  sizes: RequestSize[]
}

const READ_LINE = new Job<BatchLineInput, BatchLine | null>(new URL('../jobs.ts', import.meta.url), 'readLine')
const LINE_FEED = 10

/** Throws a 400 that names the first line which is no request, or which names no model where it must. `owner` is the project. */
export async function readBatchInput(
  { bytes, parts }: Pick<Form, 'bytes' | 'parts'>,
  { owner, ...options }: Omit<BatchLineInput, 'bytes' | 'number'> & { owner: number },
): Promise<BatchInput> {
  const yieldTurn = createYieldTurn()
  const models = new Set<string>()
  const asked = new Set<string>()
  const references: KeptReference[] = []
  const sizes: RequestSize[] = []
  let requests = 0
  let number = 0
  for (const lineBytes of linesOf({ bytes, parts })) {
    const input = { bytes: lineBytes, number: ++number, ...options }
    const line = lineBytes.length > LONGEST_ON_LOOP ? await readAside(input, owner) : readBatchLine(input)
    if (line) {
      requests++
      for (const model of line.models) models.add(model)
      if (line.asked !== null) asked.add(line.asked)
      for (const reference of line.references) references.push(reference)
      if (line.size) sizes.push(line.size)
    }
    await yieldTurn()
  }
  return { requests, models: [...models], asked: [...asked], references, sizes }
}

/** Those that hold a request, of a file that was read. */
export function* requestsOf(form: Pick<Form, 'bytes' | 'parts'>): Generator<LineToCheck> {
  let number = 0
  for (const bytes of linesOf(form)) {
    number++
    if (bytes.some(byte => !BLANK.has(byte))) yield { bytes, where: `Line ${number} of the file: ` }
  }
}

const BLANK: ReadonlySet<number> = new Set([...' \t\r'].map(blank => blank.charCodeAt(0)))

function* linesOf({ bytes, parts }: Pick<Form, 'bytes' | 'parts'>): Generator<Uint8Array> {
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
  const bytes = await copyInTurns(input.bytes)
  return offLoop.run(READ_LINE, { ...input, bytes }, { owner, transfer: [bytes.buffer] })
}
