/** The forms of plain questions: equivalent forms, and splitting a question into its frame and the rest. */
import { lemmasOf } from '../text/lexicon.ts'
import { wordMap } from '../text/words.ts'
import { normalizeWordForms } from './spelling.ts'

const agents = '(?:i|you|one|someone|anyone)'
const being =
  '(?:is|are|was|were|would be|will be)(?: the| a| an| some(?: of the)?| any)?(?: (?:different|various)(?= ))?(?: (?:best|good|great|top|most popular)(?= ))* '
/** The frames of questions. The first one that matches is split off. */
const frames: ReadonlyArray<readonly [pattern: RegExp, frame: string]> = [
  [/^(?:what (?:is it|it is|does it feel)(?: feel)? like|how (?:is it|does it feel)(?: like)?) to /, 'like'],
  [
    new RegExp(
      `^how (?:to|(?:do|can|could|should|would|does) ${agents}|${agents} (?:can|could|should))(?: (?:go about|best|actually|properly|really))? (?=[a-z])`,
    ),
    'how',
  ],
  [
    /^what (?:is|are|would be)(?: the| a| an| some(?: of the)?| any)?(?: (?:best|good|right|proper|correct|most effective|effective|great|better|ideal))* (?:ways?|steps|methods?|process|procedures?|techniques?|tips(?= (?:to|(?:for|on) [a-z]+ing) )|approach|means)(?: (?:that|by which) i can| i can)? (?:to|of|for|on) (?=[a-z])/,
    'how',
  ],
  [
    new RegExp(
      `^what (?:can|should|could|do|must|would) ${agents} (?:(?:have|need) to )?do(?: in order)? to (?=[a-z])`,
    ),
    'how',
  ],
  [/^why (?:(?:is|are|do|does|did|was|were|can|should|would|have|has) )?/, 'why'],
  // "What are some …" asks for a list, not a definition. "Whole Foods" is one company, "whole foods" are many.
  [
    /^what are some (?:of the )?(?=[a-z-]+(?: [a-z-]+){0,2}$)(?!(?:best|good|great|top|most|different|various) |.* (?:of|to|for|in|on) )/,
    'name',
  ],
  [/^what are (?=[A-Z][a-z]+ [A-Z][a-z]+s$)/, 'what are'],
  [new RegExp(`^what ${being}`), 'what'],
  [new RegExp(`^who (?!are )${being}`), 'who'],
  [new RegExp(`^who ${being}`), 'who are'],
  [/^(?:explain|describe|define|discuss)(?: the| a| an| some(?: of the)?)? /, 'what'],
  // "Name the capital of Peru" asks what it is; "name a noble gas" asks for an example.
  [
    /^(?:list|name|state|give(?: me)?|suggest|recommend|mention) (?:(?:the |an? |some (?:of the )?)?(?:best|good|great|top) |(?:an? |some )?(?=examples? of )|the (?=(?:most|least|first|last|[a-z]+est) )|(?:the|some) (?=(?:[^ ]+ ){1,3}(?:of|between|for) ))/,
    'what',
  ],
  [/^(?:list|name|state|give(?: me)?|suggest|recommend|mention)(?: the| a| an| some(?: of the)?)? /, 'name'],
  [/^(?:what|which) /, 'which'],
]

/** Rules that rewrite special question forms as common ones. */
const rewrites: ReadonlyArray<readonly [pattern: RegExp, instead: string]> = [
  [/ & /g, ' and '],
  [/ \? (?=(?:what|how|why|where|when|who|which) \S+ )/g, ' and '],
  [/^(?:according to you|in your opinion) ,? ?|(?: ,)? (?:according to you|in your opinion)$/, ''],
  // A clause before a question moves behind it: "if it rains, what do I do".
  [
    /^((?:if|when|in|at|on|for|as|during|after|before|with|without) [^,]+) , ((?:what|who|how|why|where|which|can|could|should|would|will|is|are|do|does|did|may|must) [^,]+)$/,
    '$2 $1',
  ],
  [/^(what|who|where|when|how|why|which [a-z ]+) do you think (?=(?:is|are|was|were|will|would|should|can) )/, '$1 '],
  [/^do you (?:think|believe) (?:that )?((?:[a-z'-]+ ){1,4}?)(is|are|was|were|will|would|should|can|could) /i, '$2 $1'],
  [
    /^(?:what (?:do you think|is your (?:opinion|view)|are your (?:thoughts|views|opinions))|how do you feel) (?:of|on|about) /,
    'what is your opinion about ',
  ],
  [/^what (?:will|would|might|could) happen(?= .*\b(?:if|when) )/, 'what happens'],
  [/ with no /, ' without '],
  [/ you (?:have )?ever (?=[a-z]+)/g, ' you have '],
  [/^(?:how much|what) (?:does|would|will) it cost to /, 'what is cost of to '],
  [/^how much (?:does|would|will) (?!it |this |that )(.+) cost((?: in .+)?)$/, 'what is cost of $1$2'],
  [/^what (?:does|would|will) ((?:the|a|an|your) .+) cost$/, 'what is cost of $1'],
  [/^how do (.+ and .+) differ$/, 'what is difference between $1'],
  [/^how (?:(?:is|are) (.+) different|do(?:es)? (.+) differ) from (.+)$/, 'what is difference between $1$2 and $3'],
  [/^what (?:is|are) (?:the )?reasons? (?:that |why |for which )?(?!for |of |to |behind |in )/, 'why '],
  [
    /^(?:how far (?:away )?(?:is|are) (?:it from (.+) to|(?!it )(.+) from)|how far apart are (.+) and|what is (?:the )?distance from (.+) to) (.+)$/,
    'what is distance between $1$2$3$4 and $5',
  ],
  [
    /^what are (?:the|some) ((?!(?:best|good|great|top|most) )[a-z-]+(?: [a-z-]+)?) that (?!i |you |we |they |he |she |it |the |my |your |people )/,
    'which $1 ',
  ],
  [/^is it (?:(?:good|wise|advisable)|an? good idea) to (?!be |.*\b(?:you|your)\b)/, 'should i '],
  [/^should (?:you|one) (?!.*\b(?:i|me|my|you|your|we|us|our)\b)/, 'should i '],
  [/(?<= [Pp]ostgre)sql(?= |$)/gi, 's'],
  [/^what causes (?!(?:do|does|did|are|is|can|should|would|will|have|has|i|you|we|they) |.* to )/, 'what is cause of '],
  [/^how many people live in /, 'what is population of '],
  [/^what ([a-z]+(?: [a-z]+)?) (?:is|are) (?:the )?best(?= for | to | in |$)/, 'what is best $1'],
  [/^(?:what|how) is (?!it )(.+) like (?=in )/, 'how is $1 '],
  [/^(?:in )?(?:what|which) year (?=was |were |did )/, 'when '],
  [/^when is (?=(?:the )?best time )/, 'what is '],
  [/^how many (.+?) (?:does|do) (.+) have$/, 'how many $1 in $2'],
  [/^(?:what|which) ((?!(?:does|do) ).+?) (?:does|do) (.+) have$/, 'what is $1 of $2'],
  [/^is it ([a-z]+) to ([a-z]+) ((?:(?:the|an?|my|your) )?(?:[a-z]+ ){0,2}[a-z]+)$/, 'is $3 $1 to $2'],
  [/^is it (?:ok|okay|all right) for (.+?) to /, 'can $1 '],
  [/ (?:each|every) (day|week|month|year|hour|night)(?= |$)/, ' per $1'],
  [/^(how (?:much|many|often) .+?)(?: in)? an? (day|week|month|year|hour|night)$/, '$1 per $2'],
  [
    /^((?:what|when|where|why|how|which) (?:.+ )?should )(?:you|we|one|someone|anyone) (?!.*\b(?:i|me|you|we|us|our)\b)/,
    '$1i ',
  ],
  [/ of using /, ' of '],
  [/ make money(?= |$)/, ' earn money'],
  [/^who (?:is|was) (?:the )?author of /, 'who wrote '],
  [/^who (?:was|were) (.+) ([a-z]+ed|written|sung|built|made|drawn) by$/, 'who $2 $1'],
  [
    /^who (?:is|was) (?:the )?(paint|invent|found|creat|direct|compos|discover|develop|design)(?:er|or) of (.+)$/,
    'who $1ed $2',
  ],
]

/** The quantities that neutral adjectives ask for. "How cold is it" presupposes that it is cold, and is not neutral. */
const measures = wordMap(`
  tall height|high height|long length|wide width|deep depth|old age|heavy weight|fast speed|big size|large size|hot temperature
`)

/** Rewrites "how tall is the tower" as a question for its height. */
function rewriteMeasure(sentence: string): string {
  const [, adjective = '', thing = ''] = /^how ([a-z]+) (?:is|are) (.+)$/.exec(sentence) ?? []
  const measure = measures.get(adjective)
  return measure === undefined ? sentence : `what is ${measure} of ${thing}`
}

/** Rewrites "is eating raw fish safe" as "is it safe to eat raw fish". "Drinking water" may be a noun and stays. */
function rewriteGerund(sentence: string): string {
  const [, gerund = '', object = '', judged = ''] = /^is ([a-z]+ing) ([a-z]+ .+) ([a-z]+)$/.exec(sentence) ?? []
  const base = lemmasOf(gerund).find(({ kind, form }) => kind === 'v' && form === 'ing')?.word
  const isJudged = lemmasOf(judged)[0]?.kind === 'a' || lemmasOf(judged).every(({ kind }) => kind === 'a')
  return base === undefined || judged === '' || !isJudged ? sentence : `is it ${judged} to ${base} ${object}`
}

/** Rewrites "why did my card get declined" as "why was my card declined". A state, "why did she get married", stays. */
function rewritePassive(sentence: string): string {
  const [found = '', one = '', other = '', verb = ''] =
    /^why (?:did (.+) get|has (.+) been) ([a-z]+ed)(?= |$)/.exec(sentence) ?? []
  if (found === '' || lemmasOf(verb).some(({ kind, form }) => kind === 'a' && form === 'plain')) return sentence
  return `why was ${one}${other} ${verb}${sentence.slice(found.length)}`
}

/** Returns the canonical form of equivalent questions. */
export function canonicalizeQuestion(normalized: string): string {
  const sentence = normalizeWordForms(normalized)
    .replace(/ [?.!]$/, '')
    .replace(/^(?!.*\b(?:whether|if|yes|no)\b)(.*?)(?: ,)? (?:or not|and why)$/, '$1')
    .replace(/'s?(?= |$)/g, " 's")
  const active = rewritePassive(rewriteGerund(sentence.trim()))
  const written = rewrites.reduce((before, [pattern, instead]) => before.replace(pattern, instead), active)
  return rewriteMeasure(written.trim())
}

/** Words in a frame that change its tense, modality or degree. */
const tenses =
  / ?\b(?:was|were|did|had|could|should|would(?! be)|may|might|must|will(?! be)|can|best|good|great|top|most popular)\b/g
const quality = /best|good|great|top|popular/
/** A frame in which "good" does not mean the best: "a good age to marry", unlike "some good hotels". */
const moderatePraise = / an? (?:good|great) /

export function splitQuestionFrame(sentence: string): [frame: string, rest: string, asker: string] {
  for (const [pattern, frame] of frames) {
    const [found] = pattern.exec(sentence) ?? []
    if (found === undefined) continue
    // "The best joke that you have heard" includes the present, so that "is" and "was" are equal.
    const isPerfect = /\byou have\b/.test(sentence)
    const praise = moderatePraise.test(found) ? ' good' : ' best'
    const tense =
      /^(?:how|where)$/.test(frame) || isPerfect
        ? ''
        : [...new Set((found.match(tenses) ?? []).map(word => (quality.test(word) ? praise : word)))].join('')
    // "Why is the door open" asks about a state, "why does the door open" about an event.
    const state = frame === 'why' && /\b(?:is|are)\b/.test(sentence) ? ' is' : ''
    const rest = sentence.slice(found.length)
    if (frame === 'how' && !lemmasOf(rest.split(' ')[0] ?? '').some(({ kind }) => kind === 'v')) continue
    const asker = / (i|you|one|someone|anyone) /.exec(` ${found}`)?.[1] ?? ''
    // "How can someone open a lock" may be asked to keep others out.
    const subject = asker.endsWith('one') && asker !== 'one' ? ' anyone' : ''
    return [`${frame}${state}${tense}${subject}`, rest, asker]
  }
  return ['', sentence, '']
}
