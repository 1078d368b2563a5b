/**
 * The patterns of normalization: courtesy, contractions, "how do I" and operators. They match text in which words and marks are separated by
 * single spaces. No pattern removes a word that may change the answer: what else means the same is learned (`src/cache/verify`).
 */

export type RewriteRule = readonly [pattern: RegExp, instead: string]

/** A greeting before a question or request. It is removed with the mark after it. */
export const greetingPattern =
  /^(?:(?:hi|hello|hey)(?: there| all| everyone| assistant)?|(?:many )?(?:thanks|thank you)(?: a lot| (?:so|very) much)?(?= [,.!])|greetings|dear assistant|good (?:morning|afternoon|evening|day)|excuse me|sorry to bother you|(?:just )?(?:an? )?quick question|(?:i have )?(?:an? |one )?(?:(?:quick|simple|short) )?question(?= [,.!:-]))(?: (?:[,.!]|(?<=question )[:-]))? (?=\S)/i

/** An abbreviation whose full stop does not end a sentence: "TCP vs. UDP", "Dr. Who". */
export const abbreviationPattern = /(?<=(?:^| ))(vs|dr|mr|mrs|ms|prof) \. (?=[A-Za-z\d])/gi

/** A text that is only courtesy. */
export const courtesyOnlyPattern =
  /^(?:hi|hello|hey|thanks|thank you|goodbye|bye|good (?:morning|afternoon|evening))(?: there| all| a lot| so much| very much)?(?: [.!])?$/

/** Fillers before a question or a request, which are removed: "please", "could you tell me", "I would like to know". */
export const fillerPatterns: readonly RegExp[] = [
  /^(?:please|pls|plz|kindly)(?: ,)? (?=\S)/i,
  /^(?:can|could|would|will) you (?:please|kindly|possibly)(?: ,)? (?=\S)/i,
  /^(?:can|could) you (?=(?:explain (?!away)|(?:outline|compare|give me|show me|help me) ))/i,
  /^(?:i (?:want|need|would like)|i'd like) you to (?=\S)/i,
  /^(?:(?:can|could) you )?(?:(?:please|kindly) )?(?:tell me|let me know) (?=(?:what|who|where|when|why|how|which)(?:'s)? )/i,
  /^(?:i (?:want|need|would like) to know|i'd like to know|i(?: was|'m| am) wondering|do you know)(?: [,:])? (?=(?:what|who|where|when|why|which|how(?! to ))(?:'s)? )/i,
]

/** Thanks after a question, which are removed with the mark before them. */
export const closingThanksPattern =
  /(?:^| [,.!?]) (?:(?:many |kind |best )?(?:thanks|thank you|thx|ty|cheers|regards)(?: a lot| a million| so much| very much)?(?: in advance| for (?:your|the) help| for helping)?|much appreciated|i (?:would )?appreciate it)(?: [.!])*$/i
export const closingPleasePattern = /(?:(?<=\S) [,.!?])? (?:please|pls|plz)(?: [.!?])*$/i
/** Words after which "please" is the subject and not courtesy. */
export const literalPleasePattern =
  /\b(?:of|with|to|for|the|an?|and|or|is|are|was|were|be|not|as|means?|meant|called|than|like|uses?|using|types?|write|about|how|i|you|we|they|he|she|it|that|who|which|says?|word|from|into|by)$/i

/** Contractions with a single meaning. Ambiguous ones are omitted. */
export const contractionRules: readonly RewriteRule[] = [
  [
    /\b(what|who|where|when|why|how|it|that|there|here|he|she)'s\b(?! (?:(?:he|she|it|they|we|you|i) )?(?:been|got|had|done|gone|become|\w+ed|\w+en|made|found|lost|won|come|left|said|brought|taught|kept|spent|sent|built|met|put|set|cut|hit|hurt|read|run|sung|drunk|worn|torn|drawn|shown|thrown)\b)/g,
    '$1 is',
  ],
  [/^(what|where|who|how) ?s (?=(?:an?|the|my|your) )/, '$1 is '],
  [/\b(what|who|where|you|we|they)'re\b/g, '$1 are'],
  [/\b(i)'m\b/g, '$1 am'],
  [/\b(i|you|we|they)'ve\b/g, '$1 have'],
  [/\bcan't\b/g, 'cannot'],
  [/\b(do|does|did|is|are|was|were|have|has|had|could|should|would)n't\b/g, '$1 not'],
]

/** "How do I cite your website" addresses the owner; "how to cite your website" is asked by the owner. */
export const methodRule: RewriteRule = [/^how (?:do|can) i (?=[a-z])(?!.*\byour\b)/, 'how to ']

/** Operators, which are replaced only between operands: `3 times 4`. */
export const operatorPatterns: ReadonlyArray<readonly [RegExp, string]> = [
  [/^(?:multiplied by|times|x|\*|×)$/, '×'],
  [/^(?:divided by|over|\/|÷)$/, '÷'],
  [/^(?:plus|\+)$/, '+'],
  [/^(?:minus|−|-)$/, '-'],
]
