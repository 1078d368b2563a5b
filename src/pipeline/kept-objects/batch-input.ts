/** Scans a batch's file: how many requests it holds, their models, and what kept objects they name. */
import { copyInTurns } from '../../event-loop/copy-in-turns.ts'
import { Job, LONGEST_ON_LOOP, offLoop } from '../../event-loop/off-loop.ts'
import { createYieldTurn } from '../../event-loop/turns.ts'
import type { KeptReference } from '../../formats/kept-references.ts'
import type { Form } from '../../formats/read-form.ts'
import type { RequestSize } from '../largest-tokens.ts'
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
  for (const { start, end } of parts.filter(({ name, isFile }) => isFile && name === 'file')) {
    for (let at = start; at < end; ) {
      const next = bytes.indexOf(LINE_FEED, at)
      const lineEnd = next < 0 || next > end ? end : next
      const input = { bytes: bytes.subarray(at, lineEnd), number: ++number, ...options }
      const line = lineEnd - at > LONGEST_ON_LOOP ? await readAside(input, owner) : readBatchLine(input)
      if (line) {
        requests++
        for (const model of line.models) models.add(model)
        if (line.asked !== null) asked.add(line.asked)
        for (const reference of line.references) references.push(reference)
        if (line.size) sizes.push(line.size)
      }
      at = lineEnd + 1
      await yieldTurn()
    }
  }
  return { requests, models: [...models], asked: [...asked], references, sizes }
}

/** The worker gets a copy, because the form is still to be forwarded. */
async function readAside(input: BatchLineInput, owner: number): Promise<BatchLine | null> {
  const bytes = await copyInTurns(input.bytes)
  return offLoop.run(READ_LINE, { ...input, bytes }, { owner, transfer: [bytes.buffer] })
}
