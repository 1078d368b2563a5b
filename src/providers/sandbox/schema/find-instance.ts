/** Owns the making of JSON instances that satisfy a schema: proposed by one library, judged by another. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { type GenerateOptions, generateSync, type JsonSchema } from 'json-schema-faker'
import { isJsonObject } from '../../../json/json-object.ts'
import { adaptSchema, demandObject } from './adapt-schema.ts'
import { resolvePointer } from './resolve-pointer.ts'
import { SAMPLE_FORMATS } from './sample-formats.ts'
import { SchemaRefusal } from './schema-refusal.ts'
import { roundMultiple, tidyValue } from './tidy-value.ts'

const LONGEST_INSTANCE_CHARS = 131_072
/** Proposals for one schema, and how long they may be made for; what holds the worker up longer ends with it. */
const ATTEMPTS = 24
const SEARCH_MS = 120

const COMMON: GenerateOptions = {
  maxDepth: 40,
  refDepthMax: 4,
  useDefaultValue: true,
  useExamplesValue: true,
  formats: SAMPLE_FORMATS,
  outputTransform: tidyValue,
}
/** With all that is optional, with what must be, and something between: recursion ends in one of them. */
const FULL: GenerateOptions = { ...COMMON, alwaysFakeOptionals: true, maxDefaultItems: 1 }
const LEAN: GenerateOptions = { ...COMMON, optionalsProbability: 0, maxDefaultItems: 0 }
const MIXED: GenerateOptions = { ...COMMON, optionalsProbability: 0.5, maxDefaultItems: 3 }
/** What the author shows, or what we write, may be what another keyword forbids. */
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
  // They say how a text is meant, and not every validator knows the same ones.
  validateFormats: false,
  // Numbers as the decimals they are written as.
  multipleOfPrecision: 9,
  // Each schema is compiled for one instance: writing faster code would take longer than it saves.
  code: { optimize: false },
  loopRequired: 16,
})

/**
 * The JSON text of an instance that satisfies the schema (JSON Schema 2020-12, and draft 7's tuples). The same schema
 * and seed always give the same text. With `mustBeObject`, an object.
 *
 * Throws a SchemaRefusal where the schema is malformed, or no instance within the sandbox's bounds was found.
 */
export function findInstance(schema: unknown, seed: number, mustBeObject: boolean): string {
  try {
    return JSON.stringify(search(prepare(schema, mustBeObject), seed, mustBeObject))
  } catch (error) {
    // A stack that overflows is one more way for a schema to be nested too deeply.
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
  const endsAtMs = performance.now() + SEARCH_MS
  let wasTooLarge = false
  for (let attempt = 0; attempt < ATTEMPTS && performance.now() < endsAtMs; attempt++) {
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
    // Nothing of one client's schema is left for the next, its `$id` least of all.
    ajv.removeSchema()
  }
}

/** Undefined where the library finds none; what it proposes need not be right. */
function propose(schema: JsonSchema, seed: number, options: GenerateOptions): unknown {
  const refResolver = (reference: string) => resolvePointer(schema, reference)
  try {
    return generateSync(schema, { ...options, seed, refResolver })
  } catch {
    return undefined
  }
}
