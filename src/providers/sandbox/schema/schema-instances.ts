/** Owns the worker that satisfies schemas: made at first need, kept warm, replaced where a schema holds it up. */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { refuse } from '../../../errors.ts'
import type { SchemaJob, WorkerMessage } from './schema-job.ts'
import { SchemaRefusal, toInvalidRequest } from './schema-refusal.ts'

/** Longer schemas are no questions that anybody asks in earnest, and would take their time to write and hash. */
const LONGEST_SCHEMA_CHARS = 262_144
const TIME_LIMIT_MS = 250
/** Schemas that may wait for the worker; it is busy with one for as long as the limit allows. */
const MOST_WAITING = 64
/** Of all texts that are remembered. */
const REMEMBERED_CHARS = 4_194_304

export interface SchemaInstances {
  /**
   * The JSON text of an instance that satisfies the schema; with `mustBeObject`, an object. The same schema always gives
   * the same text. Throws a 400 naming `param` where there is none that the sandbox could find in time, and a 503 where
   * too many are waiting.
   */
  write(schema: unknown, param: string, mustBeObject?: boolean): Promise<string>
}

interface Waiting {
  job: SchemaJob
  resolve(text: string): void
  reject(error: Error): void
}

export function createSchemaInstances(timeLimitMs = TIME_LIMIT_MS): SchemaInstances {
  /** By schema: clients send the same ones again and again. */
  const known = new LRUCache<string, string>({ maxSize: REMEMBERED_CHARS, sizeCalculation: text => text.length + 128 })
  const waiting: Waiting[] = []
  let worker: Worker | null = null
  /** Null while the worker is starting or has nothing to do. */
  let busy: { with: Waiting; timer: Timer } | null = null
  let isReady = false

  function start(): void {
    const started = new Worker(new URL('./schema-worker.ts', import.meta.url))
    worker = started
    // It has no reason of its own to keep a process alive.
    started.unref()
    started.onmessage = ({ data }: MessageEvent<WorkerMessage>) => {
      if (worker === started) take(data)
    }
    started.onerror = event => {
      if (worker === started) replace(new Error(`The sandbox's schema worker failed: ${event.message}`))
    }
  }

  function take(message: WorkerMessage): void {
    const done = endJob()
    isReady = true
    if (message.kind === 'instance') done?.resolve(message.text)
    if (message.kind === 'refused') done?.reject(new SchemaRefusal(message.message))
    giveNext()
  }

  function giveNext(): void {
    if (worker === null && waiting.length > 0) start()
    if (worker === null || !isReady || busy !== null) return
    const next = waiting.shift()
    if (next === undefined) return
    const expire = () => replace(new SchemaRefusal(`could not be satisfied within ${timeLimitMs} ms`))
    busy = { with: next, timer: setTimeout(expire, timeLimitMs) }
    worker.postMessage(next.job)
  }

  /** Ends the worker, whatever it is at; where it was at nothing, it did not start, and those that wait are told. */
  function replace(error: Error): void {
    worker?.terminate()
    worker = null
    isReady = false
    const held = endJob()
    for (const each of held ? [held] : waiting.splice(0)) each.reject(error)
    giveNext()
  }

  function endJob(): Waiting | undefined {
    clearTimeout(busy?.timer)
    const ended = busy?.with
    busy = null
    return ended
  }

  function ask(job: SchemaJob): Promise<string> {
    if (waiting.length >= MOST_WAITING) throw refuse('sandboxBusy')
    return new Promise((resolve, reject) => {
      waiting.push({ job, resolve, reject })
      giveNext()
    })
  }

  return {
    async write(schema, param, mustBeObject = false) {
      try {
        const schemaText = writeSchema(schema)
        const digest = createHash('sha256').update(schemaText).digest()
        const at = `${digest.toString('base64')} ${mustBeObject}`
        const text = known.get(at) ?? (await ask({ schemaText, seed: digest.readInt32LE(), mustBeObject }))
        known.set(at, text)
        return text
      } catch (error) {
        throw error instanceof SchemaRefusal ? toInvalidRequest(error, param) : error
      }
    },
  }
}

function writeSchema(schema: unknown): string {
  const text = tryToWrite(schema)
  if (text.length <= LONGEST_SCHEMA_CHARS) return text
  throw new SchemaRefusal(`is longer than the ${LONGEST_SCHEMA_CHARS} characters that the sandbox takes`)
}

/** A stack that overflows is one more way for a schema to be nested too deeply. */
function tryToWrite(schema: unknown): string {
  try {
    return JSON.stringify(schema)
  } catch {
    throw new SchemaRefusal('is nested too deeply')
  }
}

const shared = createSchemaInstances()

/** As SchemaInstances has it, by the worker that a process has for all its requests. */
export const writeSchemaInstance = shared.write
