/** Helpers for response schemas. */
import { type TSchema, Type as t } from '@sinclair/typebox'

export const nullable = <Schema extends TSchema>(schema: Schema) => t.Union([schema, t.Null()])

/** A schema of one of several strings. */
export const stringUnion = <const Word extends string>(...choices: Word[]) =>
  t.Unsafe<Word>({ type: 'string', enum: choices })
