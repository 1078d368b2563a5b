/** Realistic prompts of end users, many of them similar. */
import { createRandom } from '../../test/harness/random.ts'

const STARTS = [
  'How do I',
  'How can I',
  'What is the best way to',
  'Please explain how to',
  'Is it possible to',
  'When should I',
]
const VERBS =
  'replace install remove update configure clean repair cancel export share delete archive rename schedule restart'.split(
    ' ',
  )
const KINDS =
  'old new broken shared monthly annual digital portable wireless private public temporary custom external'.split(' ')
const THINGS =
  'water filter,coffee machine,password,mailing list,printer,calendar,spreadsheet,database,warranty,door lock,smoke detector,tax report,playlist,backup,contract,window frame,credit card,parcel,user account,firewall'.split(
    ',',
  )
const SYLLABLES = 'ka lo mi ren ta vo shi bel dor fen gra hul jin kep lam nor pri qua ros sul'.split(' ')
const ENDS =
  'on a Mac,in the mobile app,for a large company,without losing data,before the end of the month,when travelling abroad,with a limited budget,from the admin page,at the office,as a guest'.split(
    ',',
  )

/** Returns `count` different questions, the same in every run. */
export function listQuestions(count: number): string[] {
  const next = createRandom(7)
  const pick = (from: readonly string[]) => from[Math.floor(next() * from.length)] ?? ''
  const questions = new Set<string>()
  while (questions.size < count) {
    const name = `model ${pick(SYLLABLES)}${pick(SYLLABLES)}${pick(SYLLABLES)}`
    const end = next() < 0.8 ? ` ${pick(ENDS)}` : ''
    questions.add(`${pick(STARTS)} ${pick(VERBS)} the ${pick(KINDS)} ${pick(THINGS)} of ${name}${end}?`)
  }
  return [...questions]
}
