/** The small words of English questions by class, and the spellings that are read as other words. */
import { wordMap, wordSet } from '../text/words.ts'

/** Small words by class. A word has one class. Every other word is a content word. */
const classes = {
  a: 'a an',
  the: 'the',
  this: 'this that these those',
  my: 'my mine our ours',
  your: 'your yours',
  their: "his her hers its their theirs 's",
  i: 'i me we us',
  self: 'myself ourselves yourself yourselves himself herself themselves itself oneself',
  you: 'you',
  they: 'he she it they him them',
  someone: 'one someone somebody anyone anybody everyone everybody people person',
  is: 'is are am',
  was: 'was were',
  be: 'be been being',
  do: 'do does',
  did: 'did',
  have: 'has have having',
  had: 'had',
  can: 'can could',
  will: 'will would shall',
  should: 'should must ought may might',
  not: 'not no never without none nor neither nothing nobody nowhere except',
  in: 'in at on',
  to: 'to into onto toward towards',
  from: 'from off out',
  of: 'of',
  for: 'for',
  with: 'with',
  by: 'by',
  about: 'about regarding concerning',
  between:
    'over under between among through against per via within across along around behind beside above below up down inside outside near upon using',
  before:
    'before after since until till during while ago already yet still again ever now currently today nowadays always sometimes often',
  if: 'if unless whether',
  and: 'and &',
  or: 'or',
  but: 'but although though however',
  because: 'because so therefore hence',
  than: 'than as like vs versus',
  all: 'all every each both',
  some: 'some any several few',
  more: 'much many more most less least enough',
  only: 'only just even also too really actually very quite exactly basically',
  there: 'there here',
  let: 'let',
  what: 'what',
  which: 'which',
  who: 'who whom whose',
  when: 'when',
  where: 'where',
  why: 'why',
  how: 'how',
  please: 'please thanks thank pls plz hi hello hey kindly sorry',
} as const

export type WordClass = keyof typeof classes

export const wordClasses = Object.keys(classes) as readonly WordClass[]

const classByWord = new Map(wordClasses.flatMap(name => classes[name].split(' ').map(word => [word, name] as const)))

/** Returns the class of a lower-case small word. Undefined for a content word. */
export const classOf = (word: string): WordClass | undefined => classByWord.get(word)

/** Contractions and short spellings that a suffix does not explain. */
export const expansions: ReadonlyMap<string, readonly string[]> = new Map(
  [
    ...wordMap(
      "can't can+not|cannot can+not|cant can+not|won't will+not|wont will+not|dont do+not|doesnt does+not|didnt did+not|isnt is+not|whats what+is|let's let+us|lets let+us|im i+am|ive i+have|hows how+is|wheres where+is|whos who+is|thats that+is|u you|ur your|r are|pls please|plz please",
    ),
  ].map(([word, parts]) => [word, parts.split('+')] as const),
)

/** What follows the apostrophe of a contraction. */
export const contractedWords = wordMap('re are|m am|ve have|ll will|d would')

/** Words after which "'s" is "is" and not an owner. */
export const beforeContractedIs = wordSet('what who where when why how it that there here he she')

/** What a question asks for, and the words that say so. The first kind with a phrase in the question counts. */
const askedPhrases = {
  difference: 'difference between|differences between|different from|differ from|vs|versus|compare|better|differ',
  meaning: 'mean|means|meaning of|define|definition of|stand for|meant by',
  duration: 'how long|how much time|how many days|how many hours|how many minutes|how many weeks',
  frequency: 'how often|how frequently|how many times|how regularly',
  price: 'how much does|how much do|how much is|how much are|how expensive|price of|cost of|what does it cost',
  amount: 'how much',
  number: 'how many|number of',
  cause: 'why|how come|cause of|causes of|causes|reason for|reasons for|reason|what makes',
  time: 'when|what time|what year|which year|what day|what date|which day',
  place: 'where|what place|which place|which country|what country|which city|what city',
  person: 'who|whose|whom',
  method:
    'how to|how do i|how do you|how do we|how can i|how can you|how can we|how should i|how would i|how could i|how does one|how can one|way to|ways to|way of|steps to|steps for|how would you|how might i|how am i',
  degree:
    'how far|how tall|how high|how big|how large|how old|how fast|how deep|how heavy|how hot|how cold|how wide|how safe|how hard|how easy|how good|how bad|how strong|how close|how likely',
  manner: 'how',
  choice: 'which',
  thing: 'what',
  permission:
    'can i|can we|may i|am i allowed|is it possible|could i|is it allowed|are we allowed|do i get to|is it ok|is it okay|are you allowed',
  duty: 'should|do i need|do i have to|must i|do we have to|do we need|am i required|is it necessary|have to',
  ability: 'can|could|able',
  state: 'is|are|was|were|am',
  habit: 'do|does|did|will|would|has|have|had',
  list: 'list|name|give|show|suggest|recommend|examples|ideas|tips',
  explanation: 'explain|describe|tell|discuss',
} as const

/** The phrases of each kind of what is asked for, in the order in which they are looked for. */
export const askedKinds: readonly (readonly string[])[] = Object.values(askedPhrases).map(phrases =>
  phrases.split('|').map(phrase => ` ${phrase} `),
)

/** The first of `askedKinds` that asks for yes or no. */
export const FIRST_YES_NO_KIND = Object.keys(askedPhrases).indexOf('permission')
