/** Realistic questions, many of them similar, and small rewordings: similar prompts for the cache. */

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

/** A seeded generator of numbers between 0 and 1. */
function createNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Returns `count` different questions, the same in every run. */
export function listQuestions(count: number): string[] {
  const next = createNumbers(7)
  const pick = (from: readonly string[]) => from[Math.floor(next() * from.length)] ?? ''
  const questions = new Set<string>()
  while (questions.size < count) {
    const name = `model ${pick(SYLLABLES)}${pick(SYLLABLES)}${pick(SYLLABLES)}`
    const end = next() < 0.8 ? ` ${pick(ENDS)}` : ''
    questions.add(`${pick(STARTS)} ${pick(VERBS)} the ${pick(KINDS)} ${pick(THINGS)} of ${name}${end}?`)
  }
  return [...questions]
}

/** Returns the question with a small difference, of another kind for each `turn`. */
export function reword(question: string, turn: number): string {
  const ways = [
    question.replace('?', ', please?'),
    question.replace(' the ', ' my '),
    `Hi, ${question}`,
    question.replace(/(\w{5})\b/, '$1s'),
    question.replace('How do I', 'How can I').replace('?', ''),
  ]
  return ways[turn % ways.length] ?? question
}
