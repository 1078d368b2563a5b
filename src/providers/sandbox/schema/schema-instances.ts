/** Instances of schemas, as text: made by a worker, and remembered. */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { SchemaQueue } from './schema-queue.ts'
import { SchemaRefusal, toInvalidRequest } from './schema-refusal.ts'

/** Longer schemas are no questions that anybody asks in earnest, and would take their time to write and hash. */
const LONGEST_SCHEMA_CHARS = 262_144
const TIME_LIMIT_MS = 250
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

export function createSchemaInstances(timeLimitMs = TIME_LIMIT_MS): SchemaInstances {
  /** By schema: clients send the same ones again and again. */
  const known = new LRUCache<string, string>({ maxSize: REMEMBERED_CHARS, sizeCalculation: text => text.length + 128 })
  const queue = new SchemaQueue(timeLimitMs)

  return {
    async write(schema, param, mustBeObject = false) {
      try {
        const schemaText = writeSchema(schema)
        const digest = createHash('sha256').update(schemaText).digest()
        const at = `${digest.toString('base64')} ${mustBeObject}`
        const text = known.get(at) ?? (await queue.ask({ schemaText, seed: digest.readInt32LE(), mustBeObject }))
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
