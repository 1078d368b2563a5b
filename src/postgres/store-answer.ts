/** Stores one complete response: store_answers() with a batch of one. */
import type { Database } from './database.ts'
import { type AnswerToStore, storeAnswers } from './store-answers.ts'

/** Returns its entry id; null when it was not stored. */
export async function storeAnswer(database: Database, answer: AnswerToStore): Promise<number | null> {
  const [id] = await storeAnswers(database, [answer])
  return id ?? null
}
