/**
 * The patterns of normalization: filler words, question patterns and operators. They match text in which words and marks are separated by
 * single spaces. Letter case is normalized in `letter-case.ts`.
 */

export type RewriteRule = readonly [pattern: RegExp, instead: string]

/** A greeting before a question or request. It is removed with the mark after it. */
export const greetingPattern =
  /^(?:(?:hi|hello|hey)(?: there| all| everyone| assistant)?|(?:many )?(?:thanks|thank you)(?: a lot| (?:so|very) much)?(?= [,.!])|greetings|dear assistant|good (?:morning|afternoon|evening|day)|excuse me|sorry to bother you|out of curiosity|(?:just )?(?:an? )?quick question|(?:i have )?(?:an? |one )?(?:(?:quick|simple|short) )?question(?= [,.!:-]))(?: (?:[,.!]|(?<=question )[:-]))? (?=\S)/i

/** An abbreviation whose full stop does not end a sentence: "TCP vs. UDP", "Dr. Who". */
export const abbreviationPattern = /(?<=(?:^| ))(vs|dr|mr|mrs|ms|prof) \. (?=[A-Za-z\d])/gi

/** A text that is only courtesy. */
export const courtesyOnlyPattern =
  /^(?:hi|hello|hey|thanks|thank you|goodbye|bye|good (?:morning|afternoon|evening))(?: there| all| a lot| so much| very much)?(?: [.!])?$/

/** Fillers before a question or a request, which are removed. */
export const fillerPatterns: readonly RegExp[] = [
  /^(?:please|pls|plz|kindly)(?: ,)? /i,
  /^(?:can|could|would|will) you (?:please|kindly|possibly)(?: ,)? /i,
  /^(?:i want|i need|i would like|i'd like) you to /i,
]

/** An inquiry before a question or its subject, which is removed. */
export const inquiryPattern =
  /^(?:(?:(?:can|could|would|will) (?:you|anyone|someone|anybody|somebody) |please |kindly )*(?:tell me|let me know(?! when| if| whether| as))|(?:do you|do you happen to|does anyone) know|i (?:want|wanted|need|would like|would love) to (?:know|ask)|i'd (?:like|love) to (?:know|ask)|i(?: wonder| was wondering| am wondering|'m wondering| am curious|'m curious)|explain|just curious|may i ask(?: you)?|can i ask you)(?: [,:])? (?=\S)/i

/** A clause that may also follow its question: "in Rome, where do I park". */
export const frontedClausePattern =
  /^(?:if|when|in|at|on|for|as|during|after|before|with|without|according to you|in your opinion) [^,.?!]+ , (?:what|who|how|why|where|which|can|could|should|would|will|is|are|do|does|did|may|must) [^,]+$/

/** A polite request, "could you" before one of these verbs. With other verbs, it may ask whether something is possible. */
export const politeRequestPattern =
  /^(?:can|could) you (?=(?:explain|outline|elaborate|describe|define|suggest|recommend|discuss)\b(?! (?:away|an?)\b)|(?:give|show|help|teach) (?:me|us)\b|(?:list|name) (?:the|some|my|two|three|four|five|six|seven|eight|nine|ten|\d+)\b|(?:write|create|generate|draft|provide) (?:an?|the|some|my|two|three|four|five|six|seven|eight|nine|ten|\d+) (?:[a-z]+ )?(?:poem|haiku|story|essay|email|letter|script|function|program|query|list|table|summary|song|paragraph|plan|outline|report|article|joke|tweet|speech|review|recipe|example|description|advertisement|slogan)s?\b)/i
/** Words after which the question asks whether something is possible: "could you explain relativity without equations". */
export const abilityConditionPattern = / (?:as|by|without|yourself|alike|free|at|in|on|with|you|never|and)(?: |$)/i

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

const reference =
  '(?:it|this|that|these|those|they|you|i|we|me|us|him|her|them|my|your|our|his|their|all|everything|which|what|if|when|by)'
/** A term in a question for its meaning: at most three words without a reference. */
const term = `(?!${reference}(?: |$))(?!.* (?:as|is|for|in|with|of) )(?=[a-z0-9 '-]{3,}$|(?:[A-Z]{2,}|"[^"]+")(?: mean)?$)(?!(?:love|life|living|existence|being|mom|mum|mother|dad|father|parents|brother|sister|wife|husband|boyfriend|girlfriend|boss|teacher|god|jesus|someone|somebody|everyone|anyone|people|man|woman|girl|guy|author|writer|poet|speaker|doctor|mark|will|trump|done)$)([^ .,!?]+(?: (?!to )[^ .,!?]+){0,2})`

/** Question patterns, applied in this order. */
export const questionRules: readonly RewriteRule[] = [
  [/^(what|how|where|why|when|who) exactly (?=(?:is|are|was|were|do|does|did|can|to) )/, '$1 '],
  // "How do I cite your website" addresses the owner; "how to cite your website" is asked by the owner.
  [/^how (?:do|can) i (?=[a-z])(?!.*\byour\b)/, 'how to '],
  [/^(?:what are )?(?:the |some )?steps to (?=[a-z])/, 'how to '],
  [/^is there (?:a|any) way to (?=[a-z])/, 'how to '],
  // "Best time to visit Japan", but not "best wishes for you".
  [/^(?:the )?(?=difference between |best (?:[a-z]*[^s ] ){1,3}(?:to|for) )/, 'what is the '],
  [/^which (?!of |one )(?=\S+ \S+ \S)/, 'what '],
  [/^where can i /, 'where do i '],
  [/^is it possible (?:for me )?to /, 'can i '],
  [new RegExp(`^what does (?:the (?:word |term ))?${term} mean$`), 'what is $1'],
  [
    new RegExp(`^(?:what is |give (?:me )?)?(?:the |a )?(?:meaning|definition) of (?:the (?:word |term ))?${term}$`),
    'what is $1',
  ],
  [new RegExp(`^what (?:is meant|do (?:you|we) mean) by ${term}$`), 'what is $1'],
  [new RegExp(`^define (?:the (?:word |term ))?${term}$`), 'what is $1'],
  // "Explain how vaccines work" and "tell me what the capital is" become direct questions.
  [
    /^(how|why|where|when) ((?:(?:the|a|an|my) )?(?!do |does |did |is |are |can |to |i |you |we )[a-z'-]+(?: [a-z'-]+){0,3}) (work|happen|occur|exist|differ)((?: (?:in|on|at) .+)?)$/,
    '$1 do $2 $3$4',
  ],
  [
    /^(how|why|where|when) ((?:(?:the|a|an|my) )?(?!do |does |did |is |are |can |to |i |you |we )[a-z'-]+(?: [a-z'-]+){0,3}) (work|happen|occur|exist|differ)s((?: (?:in|on|at) .+)?)$/,
    '$1 does $2 $3$4',
  ],
  [/^explain (.+) to me$/, 'explain $1'],
  [/^explain (?=(?:what|how|why|where|when|who) (?:is|are|was|were|do|does|did|can|to) )/, ''],
  [
    /^explain (?!what |how |why |where |when |who |to |that |if |whether |me |this$|that$|it$|yourself)(?!.* (?:to|for|like) )(?=\S)/,
    'what is ',
  ],
  [/^(what is|what are) the (?!(?:two|three|four|five|six|seven|eight|nine|ten|\d+) )(?=[^ ]+(?: [^ ]+)? of )/, '$1 '],
]

/** A noun phrase that asks for what it names: "boiling point of water?" */
export const nounPhrasePattern =
  /^(?:the |an? )?(?!(?:not|no|yes|ok|okay|sure|really|thanks|thank|hello|hi|hey|sorry|welcome|bye|goodbye|and|or|but|so|then|else|also|too|again|next|more|test)(?: |$))([^ .,!?]+(?: [^ .,!?]+){0,7})$/

/** An indirect question after an inquiry: "what the capital of France is". */
export const indirectQuestionPattern =
  /^(what|who|where) (?!.*\b(?:what|who|where|how|why|when|which)\b)(?!(?:i|you|we|they|he|she|it|is|are|was|were|do|does|did|can|to) )((?:[^ .,!?]+ )+)(is|are|was|were)$/
export const indirectAdverbQuestionPattern =
  /^(how (?:tall|high|long|deep|old|big|large|wide|heavy|far|fast|many|much)|why|when) (?!(?:i|you|we|they|is|are|was|were|do|does|did|can|to|many|much) )((?:[^ .,!?]+ )+?)(is|are|was|were)( [^ .,!?]+)?$/

/** Operators, which are replaced only between operands: `3 times 4`. */
export const operatorPatterns: ReadonlyArray<readonly [RegExp, string]> = [
  [/^(?:multiplied by|times|x|\*|×)$/, '×'],
  [/^(?:divided by|over|\/|÷)$/, '÷'],
  [/^(?:plus|\+)$/, '+'],
  [/^(?:minus|−|-)$/, '-'],
]
