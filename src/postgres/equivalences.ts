/** Calls the functions for exchanges of words that verdicts have shown to be harmless in a project. */
import type { Database } from './database.ts'
import { boolean, defineStatement, integer, readOne, runStatement, type Statement } from './statement.ts'

/** Words in one of two questions, and the words in their place in the other. */
export interface Exchange {
  /** The two stretches of words in normalized form; one may be empty. */
  readonly one: string
  readonly other: string
  /** The words around them. */
  readonly around: readonly string[]
}

/** An exchange that is harmless among the words that must be around it. */
export interface LearnedExchange extends Exchange {
  /** In how many different pairs of questions it was judged harmless. */
  pairs: number
  learned_at: string
}

export interface LearnedList {
  version: number
  exchanges: LearnedExchange[]
}

const LIST = defineStatement('select * from learned_exchanges($1::bigint)', {
  version: integer,
  exchanges: { type: 'jsonb' },
}) as Statement<LearnedList>
const WITHDRAW = defineStatement('select withdraw_exchange($1::bigint, $2::text, $3::text) as withdrawn', {
  withdrawn: boolean,
})

/** Undefined when the project is gone. */
export async function listExchanges(database: Database, projectId: number): Promise<LearnedList | undefined> {
  const [list] = await runStatement(database, LIST, [projectId])
  return list
}

/** Takes effect permanently with the next request. Returns false when there is no such exchange. */
export async function withdrawExchange(
  database: Database,
  projectId: number,
  [one, other]: readonly [string, string],
): Promise<boolean> {
  const { withdrawn } = await readOne(database, WITHDRAW, [projectId, one, other])
  return withdrawn
}
