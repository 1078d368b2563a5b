/** Normalizes questions in German, French, Spanish, Italian and Portuguese: the first word's case, courtesy and the closing mark. */
import type { RewriteRule } from './patterns.ts'
import type { Token } from './tokenize.ts'
import { capitalise, wordSet } from './words.ts'

interface Language {
  /** First words of questions and requests. */
  readonly openers: ReadonlySet<string>
  /** Known words. A text without one of them is in another language. */
  readonly known: ReadonlySet<string>
  /** Courtesy before a question, and forms of a question with the same meaning. */
  readonly patterns: readonly RewriteRule[]
  /** Forms of common questions: what is, how do I, where is, why, what does it cost. A text that matches one is in this language. */
  readonly frames: readonly RewriteRule[]
  /** Matches texts about wording. */
  readonly wording: RegExp
  /** Matches a determiner and its noun, in a text without capitals. */
  readonly nouns?: RegExp
}

const MAX_WORDS = 60

/** German words that are not nouns. */
const small =
  '(?:d(?:er|ie|as|en|em|es)|[kmds]?eine?[nmrs]?|ist|sind|und|nicht|ich|man|für|von|mit|auf|nach|aus|über|zwischen|im|in|an|am|um|zu|zum|zur|bei|hat|haben|gibt|kann|wie|was|wo|war|waren|[md]ich|[md]ir|ih[mnr]|ihnen|sie|es|uns|euch|hier)(?: |$)'

const languages: readonly Language[] = [
  {
    openers: wordSet(
      'was wer wen wem wie wo wann warum wieso weshalb welche welcher welches welchen wohin woher wieviel ist sind kann darf muss soll gibt hat haben wird werden erkläre erklär nenne beschreibe',
    ),
    known: wordSet(
      'der die das den dem des ein eine einen einem einer eines ist sind und oder nicht ich man für von mit auf im in zu zum zur bei viele viel hat gibt es kann mein meine meinen wie was wo war waren',
    ),
    patterns: [
      [/^(?:hallo|hi|guten (?:tag|morgen|abend))(?: [,!.])? /i, ''],
      [/^bitte(?: ,)? /i, ''],
      [/(?: [,.!?] (?:vielen |besten )?dank(?:e)?(?: schön)?(?: im voraus)?|(?: [,.!?])? bitte)(?: [.!])?$/i, ''],
      // "Sag mir, was ein Visum kostet" becomes a direct question, in which the verb comes second.
      [
        /^(?:(?:(?:kannst|könntest) du|(?:können|könnten) sie) (?:mir )?(?:bitte )?(?:sagen|erklären)|(?:sage?|erkläre?|verrate?)(?: sie)? (?:mir|uns)(?: bitte)?|weißt du|wissen sie) , (was|wer|wo|wann|warum|wie(?: (?:lange|viele?|oft|hoch|alt|groß|weit|teuer|schwer|lang))?) (.+) (\p{L}+)$/iu,
        '$1 $3 $2',
      ],
    ],
    frames: [
      [/^(?:was ist|was sind) (?:denn|eigentlich) /i, 'was ist '],
      [
        /^(?:was bedeutet|was versteht man unter|erkläre?|definiere) (?!(?:das|es|sie|ihn|dies\S*|mir|uns|ich)$)(?=(?:d(?:ie|as) |eine? )?\S+$)/i,
        'was ist ',
      ],
      [/^wie (?:kann|könnte) (?:ich|man) (?!.*\b(?:mein\S*|mich|mir|uns\S*|sein\S*|sich)\b)(?=.*n$)/i, 'wie kann man '],
      [/^wo (?:liegt|befindet sich) /i, 'wo ist '],
      [/^(?:wieso|weshalb) /i, 'warum '],
      [/^wie ?viel kostet /i, 'was kostet '],
    ],
    wording:
      /\b(?:übersetz|korrigier|formulier|umformulier|zusammenfass|fasse|buchstab|wort\b|wörter|satz\b|sätze|silbe|zeichen|text|absatz|rechtschreib|grammatik|schreib|geschrieben|sag|heißt|sagt\b|reimt|groß|klein|richtig|falsch|fehler|wiederhol|folgende|artikel|plural|komma|antwort|brief|gruß|höflich|nachricht|frage)/i,
    // At the end, before a small word, or without an adjective's ending.
    nouns: new RegExp(
      `(^was ist (?=\\S+$)|^wo ist (?=\\S+$)| (?:d(?:er|ie|as|en|em|es)|[kmds]?eine?[nmrs]?|zum|zur|im|am|vom|beim|ins|nach|von|in|aus|für|mit|und|zwischen|über|auf|bei|viele?) )((?:(?!${small})\\p{Ll}+e[nmrs]? (?!${small}))?)((?!${small})\\p{Ll}+(?:(?= ${small})|(?=$)|(?<!e[nmrs]?)(?= )))`,
      'gu',
    ),
  },
  {
    openers: wordSet(
      "que qui quoi quel quelle quels quelles comment pourquoi où quand combien est-ce qu'est-ce c'est explique expliquez décris donne peut-on puis-je",
    ),
    known: wordSet(
      'le la les un une des du de est sont et ou je mon ma mes dans avec pour quel quelle que qui à en au',
    ),
    patterns: [
      [/^(?:bonjour|salut|bonsoir)(?: [,!.])? /i, ''],
      [/^s'il (?:te|vous) plaît(?: ,)? /i, ''],
      [/^(?:peux-tu|pouvez-vous|pourrais-tu|pourriez-vous) (?:me |nous )?(?:dire|expliquer) /i, ''],
      [/^(?:dis|dites|explique|expliquez)-moi /i, ''],
      [/^(?:sais-tu|savez-vous) /i, ''],
      [/(?: [,.!?] merci(?: beaucoup| d'avance)?|(?: [,.!?])? s'il (?:te|vous) plaît)(?: [.!?])?$/i, ''],
      [/^comment (?:puis-je|peut-on|faire pour|est-ce que je peux|je peux) (?=\S+(?:er|ir|re)\b)/i, 'comment '],
    ],
    frames: [
      [/^(?:c'est quoi|qu'est-ce que c'est que) /i, "qu'est-ce que "],
      [/^qu'est-ce qu'(?=une? )/i, "qu'est-ce que "],
      [/^(?:explique|expliquez|définis|définissez) (?=(?:(?:la|le|les|une?) |l')\S+$)/i, "qu'est-ce que "],
      [/^comment (?=\S+(?:er|ir|re)\b)/i, 'comment '],
      [/^où (?:se trouve(?:nt)?|se situe) /i, 'où est '],
      [/^combien (?:ça )?coûte /i, 'combien coûte '],
    ],
    wording:
      /\b(?:tradui|traduc|corrig|résum|reformul|épel|orthograph|grammair|mot|mots|phrase|phrases|texte|lettre|lettres|accent|virgule|répèt|répét|écri|dire\b|dit\b|signifi|pronon|pluriel|conjug|poli)/i,
  },
  {
    openers: wordSet(
      'qué quién quiénes cuál cuáles cómo dónde cuándo cuánto cuánta cuántos cuántas por explica explique describe define es son hay puedo',
    ),
    known: wordSet(
      'el la los las un una unos unas de del es son y o mi mis en con para por qué cómo cuál que se al lo hay',
    ),
    patterns: [
      [/^(?:hola|buenos días|buenas tardes|buenas noches)(?: [,!.])? /i, ''],
      [/^por favor(?: ,)? /i, ''],
      [/^(?:puedes|podrías|puede|podría|me puedes|me podrías|me puede) (?:decirme|explicarme|decir|explicar) /i, ''],
      [
        /^(?:dime|dígame|explícame|explíqueme|sabes|sabe)(?: ,)? (?=qué|quién|cuál|cómo|dónde|cuándo|cuánt|por qué)/i,
        '',
      ],
      [/(?: [,.!?] (?:muchas )?gracias(?: de antemano)?|(?: [,.!?])? por favor)(?: [.!?])?$/i, ''],
    ],
    frames: [
      [/^que (?=(?:es|son) )/i, 'qué '],
      [/^como (?=(?:puedo|se puede|hago) )/i, 'cómo '],
      [/^cual (?=es )/i, 'cuál '],
      [/^donde (?=está )/i, 'dónde '],
      [/^(?:explica|explique|define|defina) (?=(?:el|la|los|las|una?) \S+$)/i, 'qué es '],
      [/^cómo (?:(?:puedo|podría|se puede|hago para) )?(?=\S+(?:ar|er|ir)(?: |$))/i, 'cómo '],
      [/^dónde (?:queda|se encuentra) /i, 'dónde está '],
      [/^cuánto vale /i, 'cuánto cuesta '],
    ],
    wording:
      /\b(?:traduc|corrig|resum|reformul|deletre|ortograf|gramátic|palabra|frase|oración|texto|letra|acento|tilde|coma\b|repit|repet|escrib|dice|decir\b|significa|pronunci|plural|conjug|cortés)/i,
  },
  {
    openers: wordSet(
      "che cosa chi quale quali come dove quando quanto quanta quanti quante perché cos'è qual spiega descrivi è sono posso",
    ),
    known: wordSet(
      "il lo la i gli le un uno una di del della dei è sono e o mio mia miei mie in con per che come qual a da si c'è",
    ),
    patterns: [
      [/^(?:ciao|salve|buongiorno|buonasera)(?: [,!.])? /i, ''],
      [/^per (?:favore|piacere)(?: ,)? /i, ''],
      [/^(?:puoi|potresti|può|potrebbe) (?:dirmi|spiegarmi) /i, ''],
      [/^(?:dimmi|mi dica|spiegami|sai|sa)(?: ,)? (?=che|chi|qual|come|dove|quando|quant|perché|cos)/i, ''],
      [/(?: [,.!?] grazie(?: mille| in anticipo)?|(?: [,.!?])? per (?:favore|piacere))(?: [.!?])?$/i, ''],
    ],
    frames: [
      [/^(?:che )?(?:cos'è|cosa è) /i, "cos'è "],
      [/^(?:spiega|spieghi|definisci) (?=(?:(?:il|lo|la|un|uno|una) |l'|un')\S+$)/i, "cos'è "],
      [/^come (?:(?:posso|potrei|si può|si fa a|faccio a|fare a) )?(?=\S+(?:are|ere|ire|rre)(?: |$))/i, 'come '],
      [/^dove (?:si trova|è) |^dov'è /i, 'dove si trova '],
      [/^come mai /i, 'perché '],
    ],
    wording:
      /\b(?:tradu|corregg|riassum|riformul|sillab|ortograf|grammatic|parol|frase|frasi|testo|letter|accent|virgol|ripet|scriv|scritt|dice|dire\b|significa|pronunci|plural|coniug|cortes)/i,
  },
  {
    openers: wordSet(
      'que quem qual quais como onde quando quanto quanta quantos quantas por explique explica descreva defina é são há posso o',
    ),
    known: wordSet(
      'o a os as um uma uns umas de do da dos das é são e ou meu minha meus em no na com para por que como qual se ao há',
    ),
    patterns: [
      [/^(?:olá|oi|bom dia|boa tarde|boa noite)(?: [,!.])? /i, ''],
      [/^por favor(?: ,)? /i, ''],
      [/^(?:você )?(?:pode|poderia|podes|consegue) (?:me )?(?:dizer|explicar|dizer-me|explicar-me) /i, ''],
      [
        /^(?:me diga|diga-me|diz-me|me explique|você sabe|sabe)(?: ,)? (?=(?:o )?que|quem|qual|como|onde|quando|quant|por que)/i,
        '',
      ],
      [/(?: [,.!?] (?:muito )?obrigad[oa](?: desde já)?|(?: [,.!?])? por favor)(?: [.!?])?$/i, ''],
    ],
    frames: [
      [/^(?:o )?que é (?!que )/i, 'o que é '],
      [/^(?:explique|explica|defina|define) (?=(?:o|a|uma?) \S+$)/i, 'o que é '],
      [
        /^como (?:é que )?(?:(?:eu posso|posso|podemos|se pode|faço para|fazer para) )?(?=\S+(?:ar|er|ir|ôr)(?: |$))/i,
        'como ',
      ],
      [/^onde (?:fica|se encontra|está) /i, 'onde fica '],
      [/^(?:porque|por quê) /i, 'por que '],
    ],
    wording:
      /\b(?:tradu|corrij|corrig|resum|reformul|soletr|ortograf|gramátic|palavra|frase|texto|letra|acento|vírgula|repit|repet|escrev|escrit|diz\b|dizer\b|significa|pronunci|plural|conjug|educad)/i,
  },
]

/** Returns the normalized question. Null when its language is not supported, or when it is about wording. */
export function normalizeForeign(tokens: readonly Token[]): string | null {
  const isPlain = tokens.every(
    ({ kind, key, opensLine }, at) =>
      (kind === 'word' || (kind === 'mark' && /^[?!.,¿¡]$/.test(key)) || kind === 'number') && !(opensLine && at > 0),
  )
  if (!isPlain || tokens.length > MAX_WORDS) return null
  const sentence = tokens.map(({ key }) => key).join(' ')
  const written = languages.map(language => normalizeIn(language, sentence)).filter(each => each !== null)
  return (written.find(({ isFramed }) => isFramed) ?? written[0])?.question ?? null
}

function normalizeIn(
  { openers, known, patterns, frames, wording, nouns }: Language,
  sentence: string,
): { question: string; isFramed: boolean } | null {
  const opened = sentence.replace(/[¿¡] ?/g, '')
  const asked = patterns
    .reduce((rest, [pattern, instead]) => rest.replace(pattern, instead), opened.replace(/ [?.]$/, ''))
    .trim()
  if (wording.test(asked)) return null
  const isFramed = frames.some(([pattern]) => pattern.test(asked))
  const cased = frames.reduce((before, [pattern, instead]) => before.replace(pattern, instead), asked)
  const isSmall = nouns && !/\p{Lu}/u.test(sentence)
  const framed = isSmall ? cased.replace(nouns, (_, lead, kind, noun) => lead + kind + capitalise(noun)) : cased
  const [first = '', ...rest] = framed.split(' ')
  const lower = first.toLowerCase()
  if (!openers.has(lower) || rest.length === 0 || / [.!?]/.test(asked)) return null
  return isFramed || rest.some(word => known.has(word)) ? { question: [lower, ...rest].join(' '), isFramed } : null
}
