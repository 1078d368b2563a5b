/** Finds stored answers, and opens what is sealed of them: what no key opens is as if it were not stored. */
import type { Database } from '../postgres/database.ts'
import { type AnswerAsk, type FoundAnswer, type FoundAnswers, findAnswers } from '../postgres/find-answer.ts'
import type { AnswerSeal } from '../stores/answer-seal.ts'

export type FindAnswers = (asks: readonly AnswerAsk[]) => Promise<FoundAnswers[]>

export function createFindAnswers(database: Database, seal: AnswerSeal): FindAnswers {
  function open(row: FoundAnswer, projectId: number): FoundAnswer | null {
    const text = row.match === 'exact' ? row.response : row.prompt
    const opened = seal.openText(text, projectId)
    if (opened === text) return row
    if (opened === null) return null
    return row.match === 'exact' ? { ...row, response: opened } : { ...row, prompt: opened }
  }

  return async asks => {
    const found = await findAnswers(database, asks)
    for (const [place, at] of found.entries()) {
      const { projectId } = asks[place] as AnswerAsk
      at.answers = at.answers.map(row => open(row, projectId)).filter(row => row !== null)
    }
    return found
  }
}
