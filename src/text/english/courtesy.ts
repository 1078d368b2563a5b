/** English courtesy: words around a question or a request that ask for nothing. */
import { courtesyTables } from '../edges.ts'
import { lowerKey } from '../phrases.ts'
import { phraseList, type Token, wordSet } from '../token.ts'
import { openers, questionWords } from './openers.ts'

/** "Can you …" with these is never a question about ability. */
const plainRequests = wordSet('explain outline discuss elaborate')
/** With these, "would you" asks for an opinion, and "can you compare strings in C" asks about ability. */
const judgedRequests = wordSet('describe define suggest recommend compare')
const conditions = wordSet('as by without with in on from yourself inside')
/** "Can you write a poem" is a request; "can you write Chinese" and "can you write a will" are not. */
const productRequests = wordSet('write create generate draft provide')
const products = wordSet(`
  poem haiku story essay email letter script function program query list table summary song paragraph plan outline report article joke tweet
  speech review recipe example examples description advertisement slogan
`)
const listRequests = wordSet('list name')
const determiners = wordSet('a an the some my two three four five six seven eight nine ten')
/** "Can you give me" is a request; "can you give blood" is not. */
const givingRequests = wordSet('give show tell teach help')

/** "Can you write a poem as good as Keats", "… a query without a join" ask whether it is possible. */
function isBound(token: Token): boolean {
  return /^(?:as|without|yourself|you|free)$/.test(token.key)
}

export const courtesy = courtesyTables({
  greetings: phraseList(`
    hi
    hello
    hey
    hi there
    hello there
    hey there
    hi all
    hi everyone
    hello everyone
    greetings
    dear assistant
    hi assistant
    hello assistant
    good morning
    good afternoon
    good evening
    good day
    quick question
    just a quick question
    excuse me
    sorry to bother you
  `),
  requests: phraseList(`
    please
    pls
    plz
    kindly
    can you please
    could you please
    would you please
    will you please
    can you kindly
    could you kindly
    would you kindly
    would you mind please
    could you possibly
    i want you to
    i need you to
    i would like you to
    i'd like you to
    would you be so kind as to
    would you be kind enough to
    i was wondering if you could
    i wonder if you could
    it would be great if you could
  `),
  abilities: phraseList(`
    can you
    could you
    would you
    will you
  `),
  isRequest(tokens, at) {
    const [verb, object] = [lowerKey(tokens[at]), tokens[at + 1]]
    if (!object || object.kind === 'mark') return false
    const isAbility = /^c(?:an|ould)$/.test(lowerKey(tokens[at - 2]))
    if (plainRequests.has(verb))
      return (
        isAbility &&
        lowerKey(object) !== 'away' &&
        !(verb === 'discuss' && tokens.some(token => /^(?:at|with|in)$/.test(token.key)))
      )
    if (judgedRequests.has(verb))
      return isAbility && !/^an?$/.test(lowerKey(object)) && !tokens.some(token => conditions.has(token.key))
    const asksForOne = object.kind === 'number' || determiners.has(lowerKey(object))
    if (listRequests.has(verb))
      return (
        isAbility &&
        asksForOne &&
        !/^an?$/.test(lowerKey(object)) &&
        !tokens.some(token => /^(?:as|by|without|alike|in|on)$/.test(token.key))
      )
    const isProduct = asksForOne && tokens.slice(at + 2, at + 4).some(token => products.has(lowerKey(token)))
    return (
      (productRequests.has(verb) && isAbility && isProduct && !tokens.some(isBound)) ||
      (givingRequests.has(verb) && isAbility && /^(?:me|us)$/.test(lowerKey(object)))
    )
  },
  inquiries: phraseList(`
    tell me
    please tell me
    can you tell me
    could you tell me
    would you tell me
    will you tell me
    can you please tell me
    could you please tell me
    would you please tell me
    can you kindly tell me
    could you kindly tell me
    could you possibly tell me
    can anyone tell me
    can someone tell me
    could someone tell me
    could anyone tell me
    can you let me know
    could you let me know
    can you please let me know
    could you please let me know
    please let me know
    let me know
    do you know
    do you happen to know
    does anyone know
    i want to know
    i wanted to know
    i need to know
    i would like to know
    i'd like to know
    i would love to know
    i'd love to know
    i wonder
    i was wondering
    i am wondering
    i'm wondering
    i am curious
    i'm curious
    just curious
    may i ask
    can i ask you
    may i ask you
    i would like to ask
    i'd like to ask
    i want to ask
  `),
  thanks: phraseList(`
    thanks
    thank you
    thx
    ty
    cheers
    thanks a lot
    thanks a million
    thanks so much
    thanks very much
    many thanks
    thank you very much
    thank you so much
    thanks in advance
    thank you in advance
    many thanks in advance
    thanks a lot in advance
    thanks so much in advance
    thank you very much in advance
    thank you so much in advance
    much appreciated
    i appreciate it
    i would appreciate it
    thanks for your help
    thank you for your help
    thanks for the help
    thanks for helping
    kind regards
    best regards
  `),
  pleas: phraseList(`
    please
    pls
    plz
  `),
  /** In "what rhymes with please", the word is an object. */
  objectMakers: wordSet(`
    of with to for the a an and or is are was were be not as mean means meant called than like use uses using type types write about how
    i you we they he she it that who which please say says word from into by
  `),
  questionWords,
  openers,
})
