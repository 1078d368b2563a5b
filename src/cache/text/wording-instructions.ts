/**
 * Finds instructions about the wording of the user's message, such as "translate what the user writes" or "you are a proofreader". A word
 * alone is none: "be polite", "repeat the order number", "convert prices to euros".
 *
 * Each word of a sentence is replaced by the letter of its class, and patterns search the letters. Patterns of whole phrases search the text.
 */

import { lettersOf } from './word-classes.ts'

/** Begins an instruction: the start of a clause, or "you must", "your task is to"; not "users may". */
const begin = '(?<=^|[kvo;B]|(?<!Y)F|(?<!Y.{0,4})p)'
/** The user's text. */
const own = `(?:D?ho.?[Vb]|D*Y(?:[DVxzi]{0,2}[NMQS]|[Di]?L)|W[xDi]?[Yo].?[Vbe]|[DVxzi]{0,4}[NMQ](?:P|h|k)?[DVxi]{0,3}Y|[DVxzi]{0,4}[NMQ][hP]?[DVxi]{0,2}(?:V|o?F?b))`
/** A text that is named without its owner, unless it is the assistant's. */
const any = `x?[DVzi][DVxzi]{0,4}[NM](?!P[Dy]|y)`
/** A definite text, after a preposition. */
const definite = `[DV][DVxzi]{0,3}[NM](?!P[Dy])`

const patterns = [
  // Translate to German. Rephrase the question. Classify what I write.
  `${begin}t(?:$|[;W]|P?[DVPxi]{0,2}z|[DVxzi]{0,4}[NM](?!P?y)|[x]?[DVi][DVxzi]{0,3}Q(?!P?y)|p[Dxi]{0,2}z|${own})`,
  // Repeat the question.
  `${begin}[er][Vx]?[DV][DVxzi]{0,3}[NMQ](?!P?y)`,
  `${begin}f[DVxi]{0,3}(?:Q|Y[DVxi]{0,2}[NMQL]|[NM]P?[DVx]{0,2}Y)`,
  `${begin}e(?:W(?:$|[Di]?Y)|P?[DJ]?Y.?[NMQ]|D?[NM]$)`,
  // Summarize the text. Extract the names from the user's question.
  `${begin}[meq]${own}`,
  `${begin}[mq]${any}`,
  `${begin}[ma](?:[DVxiLNSzkYP]{1,8}P)(?:${own}|${definite})`,
  `${begin}m[DVxiLNS]{1,4}P[DV]Q`,
  // The grammar of this sentence. Every mistake in my messages.
  `LP(?:[DJV]{1,2}|D?Y[Dxi]?)[NMQ]`,
  `h[^HXY]{1,6}PD?Y[Dxi]?[NM]`,
  // Pull out every date in the user's text. Improve my English.
  `^x[^HXYoBFVh;]{0,7}PD?Y[Dxi]?[NM](?:$|[k;])`,
  `${begin}[tq]Yz`,
  // Correct any mistakes.
  `${begin}[tqm][DViYkL]{0,3}L(?:$|[k;]|P(?:${own}|${definite}))`,
  // Grade the student's answer.
  `${begin}w(?:[DVxi]{0,3}P)?[DVxi]{0,2}(?:Y[DVxi]{0,2}[NSL]|[NS]P[Di]?Y)`,
  `${begin}[wac][DVxzi]{0,3}[Ll]P(?:${own}|${definite}|[NM])`,
  // Detect the sentiment. Determine the user's intent.
  `${begin}a[DVxiY]{0,3}[Ll](?!P)`,
  `${begin}[aw].{0,4}Y[Dxi]?[wL](?!P)`,
  `ow[DVxi]{0,2}N`,
  `${begin}[teqm]WD?Y`,
  `${begin}a[DVxi]{0,4}(?:Y[Dxi]{0,2}[NM]|${definite})`,
  `${begin}w[DVxi]{0,3}(?:Y[Dxi]{0,2}|[DV][DVi]?)(?:N|MP[Di]?L)`,
  // Match the user's tone.
  `${begin}(?:[rmc]|HP)[PDVxiyp]{0,4}Y[Dxi]{0,2}L`,
  `${begin}[rp]p?[PDxi]{0,4}LP(?:${own}|D?Y)`,
  // You are a bot that translates English to German. Start by restating the question.
  `(?:[hPcvB]|h.{0,20}k)g(?:[DVxzi]{0,4}[NMQz]|W|[PDVx]{0,3}z|$|${own})`,
  // Put the user's sentence into the passive. Your output is the user's text without vowels.
  `^[^HXYDPWJhokx][^HXYo]{0,6}Y[Dxi]?[NM](?!B)`,
  `^xD?Y[NM](?!B)`,
  `(?:[hPcvB]|h.{0,20}k)j(?:${own}|[DVxzi]{0,4}[NM](?!P[Dy]))`,
]
const instruction = new RegExp(patterns.join('|'))
/** "Correct it", after a sentence about the user's text. */
const refersBack = new RegExp(`${begin}[temwq](?:J|$|[DVxi]{0,2}L)`)
/** The user sends a sentence. Each message that I write. */
const mentionsText =
  /Y.?F?.?[Vb][DVxzi]{0,5}[NMQ]|oF?V[DVxzi]{0,5}[NM]|[DVxzi]Y?[DVxi]{0,3}[NMQ]o?h?Y.?[Vb]|[DV][DVxzi]{0,3}[NMQ]P?D?Y|[NMQ].{0,2}V/

/** A role whose work is texts, at the end of its noun phrase. */
const role =
  /(?:^|\s)(?:translator|(?<!dream )interpreter|proof-?reader|copy[- ]?(?:editor|writer of)|corrector|(?:\w*(?:spell|spelling|grammar|style|language)[- ]?)(?:check\w*|correct\w*|reviewer)|\w*classifier|categori[sz]er|paraphraser|rephraser|rewriter|rewording\s\w+|summari[sz]er|transcriber|transcriptionist|stenographer|tagger|labell?er|annotator|tokeni[sz]er|parser|(?:intent|query|message|ticket|request) (?:router|detector|recogni[sz]er)|plagiarism \w+|synonym \w+|(?:prompt|text|writing) (?:enhancer|generator|improver)|commit message \w+|(?:sentiment|intent|emotion|tone|toxicity) (?:analy[sz]er|analyst|detector|analysis \w+)|(?:content |chat |comment )?moderator|terminal|console|(?<!conch )shell|(?:python|sql|javascript|code|language) interpreter|(?:auto-?complete|autocompletion|regex|completion) \w+|\w*grader|(?:essay|answer) (?:scorer|rater|evaluator|marker)|parrot|echo \w+|(?:title|query|headline|keyword|hashtag|subject line|entity)s? (?:generator|writer|extractor|rewriter|recogni[sz]er)|extractor|\w*[- ]?recogni[sz]er|language detector|anonymi[sz]er|(?:encoder|decoder))$/u
/** In other languages, adjectives may follow. */
const foreignRole =
  /(?:^|\s)(?:übersetzer(?:in)?|dolmetscher|lektor(?:in)?|korrektor|korrekturleser|klassifikator|traducteur|traductrice|correcteur|correctrice|relecteur|classificateur|traductora?|corrector|clasificador|traduttore|traduttrice|correttore|classificatore|tradutora?|revisora?|corretor|classificador)(?=\s|$)/u
const roleBegin =
  /(?:\b(?:you(?:'ll| will)? play|(?:respond|reply|answer) as|you(?:'re|’re| are| will be| work as)|acts? (?:as|like)|acting as|behave (?:as|like)|function as|serve as|role of|simulate|emulate|pretend to be|role\W{1,6}|du bist|sie sind|tu es|vous êtes|eres|sei|você é|tu és|actúa como|agis comme))\s+/gu
const roleEnd =
  /[.,;:!?()"\n]|\s(?:that|which|who|whose|for|in|of|at|with|to|from|on|by|and|named|called|working|built|inside|from|für|von|de|di|do|da|pour|para|per|qui|que|che|der|die|und)\s|\sd['’]/u
const MAX_ROLE_CHARS = 80

/** Phrases about the user's wording. They need no class of words. */
const phrases: readonly RegExp[] = [
  // Products of a text: reply with the translation only.
  /\b(?:only|just|nothing but)\b.{0,30}\b(?:translat(?:ion|ed)|label|category|intent|sentiment|correct(?:ion|ed)|rewritten|rephrased|keywords)\b/,
  /\b(?:translation|label|category|intent|sentiment|corrected \w+|rewritten \w+|keywords)\s+(?:only|alone|and nothing else)\b/,
  /\b(?:write|generate|create|produce|suggest|craft|compose|give|return|come up with|rewrite|turn)\b.{0,40}\b(?:titles?|headlines?|search quer(?:y|ies)|keywords?|hashtags?|subject line|slug|commit message)\b.{0,40}\b(?:conversation|chat|message|question|quer(?:y|ies)|input|text|user(?:'s|’s)?)\b/,
  /\b(?:alternative|different|several|three|five|\d+|improved|standalone|self-contained|clearer|rephrased)\s+(?:\w+\s)?(?:versions?|variants?|variations?|phrasings?|paraphrases?|questions?)\s+(?:of|for|from)\b.{0,20}\b(?:it|question|query|message|input|text|sentence)\b/,
  /\b(?:question|query|message|follow[- ]up|it)\b.{0,40}\b(?:into|as|to|be) an? (?:standalone|self-contained|search quer|stand-alone)/,
  // Given a review. You will receive a sentence. For a product review.
  /^for (?:an?|any|each|every) (?:given )?(?:\w+ )?(?:review|message|text|sentence|tweet|comment|input|headline|utterance)\b/,
  /\b(?:you(?:'ll|’ll| will)? (?:be )?(?:given|shown|receive|get|see|provided with)|given|i(?:'ll|’ll| will) (?:give|send|show|write|type)(?: you)?) (?:an?|the|some|one)\s+(?:[\w-]+\s){0,2}(?:sentence|review|tweet|headline|paragraph|essay|phrase|word|poem|e-?mail|comment)\b/,
  /\bi(?:'ll|’ll| will)? (?:type|write|enter|send|give)(?: you)? (?:commands?|code|sentences?|text|words?|messages?|queries)\b/,
  /\bnumber of (?:\w+ )?(?:words|letters|characters|syllables|vowels|sentences)\b.{0,20}\b(?:in|of)\b.{0,20}\b(?:user|message|input|text|sentence|question)/,
  /\b(?:say|repeat|echo)\b.{0,10}\bwhat(?:ever)? .{0,15}\b(?:says?|said|writes?|wrote|types?)\b/,
  /\b(?:respond|reply|answer) with (?:the |their )?(?:user's |user’s |same )*(?:question|message|input|text|sentence)\b/,
  /^(?:is|are|does|do|has) (?:the|this) (?:following )?(?:text|message|sentence|review|tweet|comment|question)\b.*\?/,
  /\b(?:translation|summary|paraphrase|correction|transcription)s? of (?:the|each|every|this|what|user).{0,20}\b(?:message|text|sentence|input|question|user|writes?)\b/,
  /\b(?:convert|turn|transform)\w*\b.{0,60}\binto (?:an? )?(?:\w+ )?(?:search quer(?:y|ies)|keywords)\b/,
  /\bwrite (?:the )?user(?:'s|’s) (?:sentence|text|message|input|words)\b/,
  /\bmake (?:the|my|this|each|every)\s(?:user's |user’s )?(?:text|sentence|message|writing|paragraph|input)\b/,
  /\b(?:better|improved|alternative|different|nicer) (?:wording|phrasing|formulation)s?\b/,
  /\b(?:standalone|stand-alone|self-contained)\s+(?:question|query)\b/,
  /\b(?:style|tone|register|slang)\b.{0,20}\b(?:in which|that) (?:the )?(?:user|question|message|customer|they|i)\b/,
  /\b(?:translate|proofread|summari[sz]e|correct|rewrite|paraphrase|rephrase|improve|edit|polish|fix|shorten|grade|score) (?:all )?my\b(?! code)/,
  /(?:^for|\b(?:route|determine|decide|assign|label|tag)\b.{0,20})\s\b(?:each|every|the) (?:\w+ )?(?:user |customer |incoming |input |given )?(?:message|input|utterance|sentence|review|tweet|comment|e-?mail|text)\b/,
  /\b(?:begins?|starts?|opens?)\b.{0,10}\b(?:with|by quoting)\s+(?:the\s+)?(?:user's |user’s |customer's |customer’s |original )?(?:question|message|query)\b/,
  /\b(?:corrected|rewritten|reworded|rephrased) (?:sentence|version|text|message|phrase)\b/,
  /(?<!\b(?:about|to|on|with|from|answer|do|follow|understand) )\bwhat(?:ever)? (?:the |a )?(?:user|customer|student|client|i) (?:says?|writes?|types?|enters?|sends?|pastes?|submits?)\b/,
  /\b(?:user|customer|student|client|learner)s? (?:submits?|pastes?|types?|enters?)\b/,
  /^(?!.*\b(?:answer|respond|reply|use|using|based)\b).*\b(?:the|this) following (?:text|message|request|input|sentence|query|paragraph)\b/,
  /\bsame\b.{0,30}\b(?:tone|register|length|style)\b.{0,20}\bas\b.{0,10}\b(?:user|question|message|customer)/,
  /\b(?:write|read|say|give) the (?:question|message) (?:back|out)\b/,
  /\b(?:check|scan|screen|inspect|analy[sz]e) (?:the|each|every|this)\s(?:user's |user’s |following )?(?:message|text|input|sentence|comment) for\b/,
  /\b(?:turn|transform) (?:the )?(?:user|customer|student|author|client)(?:'s|’s) .{0,20}\binto\b/,
  // Aspects of a text: which language, how angry, JSON with the intent, its translation.
  /\b(?:detect|identify|determine|recogni[sz]e|tell|guess)\b.{0,20}\b(?:which|what) (?:language|dialect|tone|sentiment|emotion|intent)\b/,
  /\b(?:rate|score|judge|assess|evaluate|say|tell)\b.{0,40}\b(?:how (?!to\b)\w+|whether)\b.{0,40}\b(?:message|text|writer|sentence|wording|word)s?\b/,
  /\b(?:json|object|keys?|fields?)\b.{0,60}\b(?:intent|sentiment|entities|emotion|translation|toxicity|corrected\w*|original_\w+)\b/,
  /\bits (?:\w+ )?(?:translation|summary|correction|paraphrase|opposite)\b/,
  /\b(?:word|sentence|text|phrase|message|line|input) (?:that )?(?:the )?(?:user|student|customer|i) (?:typed|types?|wrote|writes?|entered|enters?|said|pasted)\b/,
  /\bexactly the \w+ (?:in|of|from) the (?:question|message|query)\b/,
  /\bhow many (?:\w+ )?(?:words|letters|characters|syllables|vowels|sentences)\b/,
  /\bgive (?:each|every|the|this) (?:user |customer )?(?:message|text|sentence|essay|review|input)\b/,
  /\bincoming (?:\w+ )?(?:tickets?|messages?|e-?mails?|requests?|texts?|quer(?:y|ies))\b.{0,20}\b(?:into|as|by|to)\b/,
  /\bwhatever (?:comes in|you (?:get|receive))\b|\b(?:back|it) translated\b/,
  /\b(?:talk|speak|write|sound)s? (?:exactly |just )?like (?:the )?(?:user|person|customer|me)\b/,
  // Everything I write.
  /\b(?:whatever|everything|anything|each \w+ that|every \w+ that|(?:each|every) (?:message|sentence|text|word|line)) (?:i|the user) (?:writes?|types?|enters?|sends?|pastes?)\b/,
  // In the tone of the question.
  /\b(?:in|with|use|using|keep|same)\s+(?:the\s+)?(?:same\s+)?(?:tone|style|register|voice|mood|slang|dialect|level of formality|vocabulary|wording|spelling)\s+(?:of|as|in)\s+(?:the\s+)?(?:user|question|message|customer|query|input|they|i|me|my)\b/,
  /\b(?:style|tone|register|formality|vocabulary|wording|slang)\b.{0,20}\b(?:way|how)\s+(?:the\s+)?(?:user|customer|student|i|they|person)\s+\w+/,
  /\b(?:user|customer|student|client|person|my)(?:'s|’s|s')?\s+(?:own\s+|exact\s+|original\s+)+(?:words?|wording|phrasing|style|tone|vocabulary|terms)\b/,
  /\b(?:keep|keeping|use|using|reuse|repeat|preserve|copy|echo)\s+(?:the\s+)?(?:user|customer|student|client|their|my)(?:'s|’s|s')?\s+(?:words?|wording|phrasing|vocabulary|terms)\b/,
  // Exactly as it was asked.
  /(?<!\b(?:answer|follow)\b.{0,30})\b(?:question|message|query|input|request|words?|text|sentence)\b.{0,25}\b(?:verbatim|word[- ]for[- ]word|letter (?:by|for) letter|unchanged|(?:exactly )?as (?:it was |it is |they (?:were )?|the (?:user|customer) )?(?:asked|written|typed|worded|phrased|wrote|received|sent))\b/,
  /\b(?:verbatim|word[- ]for[- ]word|exact (?:words?|wording|phrasing|text)|original (?:wording|phrasing|question|message))\b.{0,30}\b(?:user|customer|student|i|they|question|message|query|input)\b/,
  /\b(?:return|include|output|put|copy|print|insert|display|show|fields?|key|keys|begin|start|open|prefix)\b.{0,40}\b(?:the|user's|user’s|customer's) (?:original|exact|full)\s+(?:question|message|query|input|text)\b/,
  /\b(?:begin|start|open|preface|prefix)\b.{0,30}\b(?:with|by quoting)\s+(?:the\s+)?(?:user's |user’s |customer's |customer’s |original )?(?:question|message|query)\b/,
  /\b(?:return|output|print|include)\s+(?:only\s+)?(?:the\s+)?(?:user's |user’s |customer's |customer’s |original )?(?:question|message|query|input)\b(?! (?:id|number|type))/,
  /\b(?:never|not|don't|don’t|without)\s+(?:\w+\s)?(?:alter|change|modify|paraphras|rephras|reword|chang|alter)\w*\s+(?:the\s+)?(?:user|customer|client|student|question|wording|words|message|text|their)/,
  /\b(?:part of speech|parts of speech|pos tags?)\b.{0,40}|\brhym\w+\s+with\s+(?:the\s+)?(?:user|my|what|last|each|it\b)/,
  // Scripts without spaces between words, and languages without classes: translate, correct, rewrite, classify.
  /翻译|翻譯|翻訳|校对|校對|改写|改寫|添削|纠正|번역|교정|перевод(?:и|чик)|перевед|переведи|исправ(?:ь|ля)|перефраз|अनुवाद|ترجم|صحح|tłumacz|popraw|streść|vertaal|vertaler|översätt|çevir|çeviri/u,
]

const MAX_SENTENCE_CHARS = 400

/** Returns whether the text instructs the model to work on the wording of the user's message. Linear. */
export function asksForWording(text: string): boolean {
  let previous = ''
  return splitSentences(text.toLowerCase()).some(sentence => {
    const clause = omitCondition(sentence)
    const letters = lettersOf(clause)
    const found =
      instruction.test(letters) ||
      (refersBack.test(letters) && (mentionsText.test(previous) || mentionsText.test(letters))) ||
      phrases.some(phrase => phrase.test(clause)) ||
      hasRole(clause)
    previous = lettersOf(sentence)
    return found
  })
}

function splitSentences(lower: string): string[] {
  return lower.split(/(?<=[.!?…。！？])["'”’)\]*_]*\s+|\n+/).flatMap(sentence => {
    const trimmed = sentence.replace(/^[\s\-*•#>\d.)(_"“'|–—]+/, '')
    const parts = []
    for (let at = 0; at < trimmed.length; at += MAX_SENTENCE_CHARS)
      parts.push(trimmed.slice(at, at + MAX_SENTENCE_CHARS))
    return parts
  })
}

/** Omits a leading condition. What the user asks for is in the message, not in the context: "if the user asks for a translation". */
function omitCondition(sentence: string): string {
  const condition =
    /^(?:if|when|whenever|should|unless|wenn|falls|si|se|quando|cuando|quand|lorsque)\s[^,:]{0,200}[,:]?/u.exec(
      sentence,
    )?.[0]
  if (condition === undefined) return sentence
  return /\b(?:ask|asks|want|wants|request|requests|need|needs|require|requires|would like|bittet|möchte|demande|pide|chiede|pede)\b/.test(
    condition,
  )
    ? ''
    : sentence.slice(condition.length)
}

function hasRole(sentence: string): boolean {
  for (const begin of sentence.matchAll(roleBegin)) {
    const [phrase = ''] = sentence
      .slice(begin.index + begin[0].length, begin.index + begin[0].length + MAX_ROLE_CHARS)
      .split(roleEnd)
    if (/^(?:in|at|on|to|not)\s/.test(phrase)) continue
    if (role.test(phrase) || foreignRole.test(phrase)) return true
  }
  return false
}
