/** Generates JSON instances that satisfy a schema: one library proposes them, another one checks them. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { type GenerateOptions, generateSync, type JsonSchema } from 'json-schema-faker'
import { currentThread, threadTimeMs } from '../../../event-loop/thread-time.ts'
import { isJsonObject } from '../../../json/canonical.ts'
import { adaptSchema, demandObject } from './adapt-schema.ts'
import { resolvePointer } from './resolve-pointer.ts'
import { SAMPLE_FORMATS } from './sample-formats.ts'
import { SchemaRefusal } from './schema-refusal.ts'
import { roundMultiple, tidyValue } from './tidy-value.ts'

const LONGEST_INSTANCE_CHARS = 131_072
/** Proposals for one schema, and the processor time for making them; a worker that takes longer is terminated. */
const ATTEMPTS = 24
const SEARCH_MS = 120
const thread = currentThread()
const nowMs = () => threadTimeMs(thread) ?? performance.now()

const COMMON: GenerateOptions = {
  maxDepth: 40,
  refDepthMax: 4,
  useDefaultValue: true,
  useExamplesValue: true,
  formats: SAMPLE_FORMATS,
  outputTransform: tidyValue,
}
/** With every optional part, with required parts only, and in between: recursion ends in one of them. */
const FULL: GenerateOptions = { ...COMMON, alwaysFakeOptionals: true, maxDefaultItems: 1 }
const LEAN: GenerateOptions = { ...COMMON, optionalsProbability: 0, maxDefaultItems: 0 }
const MIXED: GenerateOptions = { ...COMMON, optionalsProbability: 0.5, maxDefaultItems: 3 }
/** Defaults, examples and the proxy's own samples may violate another keyword. */
const RANDOM: GenerateOptions = {
  ...MIXED,
  useDefaultValue: false,
  useExamplesValue: false,
  outputTransform: roundMultiple,
}
const LADDER = [FULL, FULL, LEAN, MIXED, RANDOM]

const ajv = new Ajv2020({
  strict: false,
  logger: false,
  // Formats describe a text's meaning, and validators differ in which ones they know.
  validateFormats: false,
  // Compares numbers as decimals.
  multipleOfPrecision: 9,
  // Each schema is compiled for one instance, so optimizing its code would take longer than it saves.
  code: { optimize: false },
  loopRequired: 16,
})

/**
 * Returns the JSON text of an instance that satisfies the schema (JSON Schema 2020-12, and draft 7's tuples). The same schema and seed
 * always give the same text. With `mustBeObject`, the instance is an object.
 *
 * Throws a SchemaRefusal when the schema is malformed, or no instance was found within the sandbox's limits.
 */
export function findInstance(schema: unknown, seed: number, mustBeObject: boolean): string {
  try {
    return JSON.stringify(search(prepare(schema, mustBeObject), seed, mustBeObject))
  } catch (error) {
    // A stack overflow means that the schema is nested too deeply.
    if (error instanceof RangeError) throw new SchemaRefusal('is nested too deeply')
    throw error
  }
}

function prepare(schema: unknown, mustBeObject: boolean): JsonSchema {
  const adapted = adaptSchema(schema)
  const prepared = mustBeObject ? demandObject(adapted) : adapted
  if (typeof prepared === 'boolean' || isJsonObject(prepared)) return prepared
  throw new SchemaRefusal('is not a schema (an object, true or false)')
}

function search(schema: JsonSchema, seed: number, mustBeObject: boolean): unknown {
  const validate = compile(schema)
  const endsAtMs = nowMs() + SEARCH_MS
  let wasTooLarge = false
  for (let attempt = 0; attempt < ATTEMPTS && nowMs() < endsAtMs; attempt++) {
    const proposed = propose(schema, seed + attempt, LADDER[attempt % LADDER.length] ?? FULL)
    if (proposed === undefined || !validate(proposed) || (mustBeObject && !isJsonObject(proposed))) continue
    if (JSON.stringify(proposed).length <= LONGEST_INSTANCE_CHARS) return proposed
    wasTooLarge = true
  }
  throw new SchemaRefusal(
    wasTooLarge ? 'asks for an instance too large for the sandbox' : 'has no instance that the sandbox could find',
  )
}

function compile(schema: JsonSchema): ValidateFunction {
  try {
    return ajv.compile(schema)
  } catch (error) {
    if (error instanceof RangeError) throw error
    throw new SchemaRefusal('is not a JSON Schema that the sandbox understands')
  } finally {
    // Removes the schema and its `$id`, which would affect the next client's schema.
    ajv.removeSchema()
  }
}

/** Undefined when the library finds none. A proposal need not satisfy the schema. */
function propose(schema: JsonSchema, seed: number, options: GenerateOptions): unknown {
  const refResolver = (reference: string) => resolvePointer(schema, reference)
  try {
    return generateSync(schema, { ...options, seed, refResolver })
  } catch {
    return undefined
  }
}
