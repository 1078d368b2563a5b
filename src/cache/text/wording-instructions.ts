/**
 * Finds instructions about the wording of the user's message, such as "translate what the user writes" or "you are a proofreader". A word
 * alone is none: "be polite", "repeat the order number", "convert prices to euros".
 *
 * Each word of a sentence is replaced by the letter of its class, and patterns search the letters. Patterns of whole phrases search the text.
 */

import { wordSet } from './words.ts'

/** Word classes. A word has the class of the last list that contains it. English, German, French, Spanish, Italian and Portuguese. */
const CLASSES: Readonly<Record<string, string>> = {
  // Verbs that work on a text or on a question.
  t: `translate transliterate proofread proof-read paraphrase rephrase reword rewrite classify categorize categorise autocomplete tokenize tokenise
    lemmatize anonymize anonymise pseudonymize pseudonymise redact transcribe spellcheck spell-check
    übersetze übersetzt übersetzen übersetz paraphrasiere klassifiziere klassifizieren kategorisiere transkribiere korrigiere korrigierst korrigieren
    corriges reformules parafraseas clasificas
    umformulieren traduis traduisez traduire classe classez classer classifie reformule reformulez reformuler paraphrase corrige corrigez corriger
    traduce traducir traduzca traduces clasifica clasificar corrija corregir parafrasea reformula reformular transcribe transcribir
    traduci tradurre classifica classificare correggi correggere parafrasa riformula riformulare trascrivi
    traduza traduzir traduz classifique classificar corrija corrigir parafraseie reescreva reescrever transcreva reescribe reescribir riscrivi`,
  // Verbs that give the message back.
  e: `repeat restate echo parrot reproduce mimic recite wiederhole wiederholen formuliere répète répétez repite repetir ripeti ripetere repita`,
  // Verbs that quote a source or the user.
  f: 'quote cite zitiere citez cita',
  // Verbs that work on a text.
  // Verbs that improve a text.
  q: 'correct fix edit polish improve tighten refine revise verbessere verbessern améliore mejora migliora melhore',
  m: `copy summarize summarise condense label tag annotate convert transform count extract parse reverse shorten simplify encode decode encrypt decrypt uppercase lowercase capitalize capitalise moderate segment split continue complete finish extend turn
    replace format change expand parse spell rhyme transform
    fasse fass extrahiere zähle kürze vereinfache markiere zusammenzufassen résume résumez résumer extrais extraire compte
    simplifie étiquette resume resumir extrae extraer cuenta simplifica etiqueta riassumi riassumere estrai estrarre conta semplifica etichetta resuma extraia extrair conte simplifique rotule`,
  // Verbs that assess a text.
  w: `analyze analyse check review evaluate assess judge grade score rate critique mark bewerte prüfe benote évalue note analyse evalúa califica
    analiza valuta avalie analise`,
  // Verbs that find an aspect of a text.
  a: `detect identify determine decide recognize recognise infer predict flag point find highlight assign route erkenne bestimme ermittle entscheide
    détecte identifie détermine detecta identifica determina rileva individua detecte identifique determine`,
  // Verbs that adopt a manner.
  r: 'match mirror adapt adopt reflect imitate spiegle passe adapte imite adapta imita adatta adeque',
  // Verbs that use the message without its wording.
  H: `answer answers answering respond responds reply replies understand understanding read help helping acknowledge address resolve handle process
    consider follow following store share log save reveal pass forward call search look use using based treat`,
  // Other verbs that put something into the response.
  c: `include insert put print output return prefix display show start begin open preface keep preserve retain file generate
    create produce suggest craft compose gib antworte réponds donne responde devuelve da rispondi restituisci dê retorne`,
  // Verbs of the user and of the model.
  b: 'write say give send provide state read type enter ask paste submit input',
  V: `writes types says asks sends enters provides submits gives pastes inputs said asked wrote written typed given provided sent entered pasted
    submitted receive receives received speaks schreibt schreibe sagt sage fragt eingibt eingebe sendet écrit écris dit envoie demande escribe
    escribo dice envía pregunta scrive scrivo chiede invia escreve escrevo diz envia pergunte`,
  // Forms of verbs after "by", "that" and so on.
  g: `translates translating proofreads proofreading paraphrases paraphrasing rephrases rephrasing rewords rewording rewrites rewriting classifies
    classifying categorizes categorizing transcribes transcribing anonymizes anonymizing restating repeating quoting echoing echoes repeats restates
    parroting redacts redacting transliterates transliterating`,
  j: `copying summarizes summarizing summarises summarising labels labeling labelling tags tagging converts converting counts counting extracts
    extracting parses parsing reverses reversing corrects correcting fixes fixing edits editing polishes polishing improves improving simplifies
    simplifying shortens shortening continues continuing completes completing grades grading scores scoring rates rating evaluates evaluating
    turns turning detects detecting identifies identifying determines determining`,
  M: `message messages input inputs utterance utterances prompt prompts nachricht nachrichten eingabe eingaben saisie entrada mensaje mensajes messaggio
    messaggi mensagem mensagens äußerung`,
  l: 'language sprache langue idioma lingua língua',
  N: `text texts sentence sentences paragraph paragraphs essay essays email emails e-mail e-mails
    tweet tweets words word wording writing phrase phrases letters comment comments story poem post posts phrasing prose
    characters transcript satz sätze sätzen texte textes wort wörter worte
    aufsatz aufsätze mail mails phrase phrases mots mot texto textos frase frases oración oraciones palabras
    palabra testo testi parole parola palavras`,
  Q: `question questions query queries request requests frage fragen anfrage anfragen requête pregunta preguntas consulta domanda domande richiesta
    pergunta perguntas`,
  S: 'answer answers response responses solution solutions homework work antwort antworten réponse respuesta risposta resposta translation translations',
  Y: `user users user's user’s users' users’ customer customer's customer’s customers client client's client’s student student's student’s students learner
    learner's learner’s learners my i me pupil's child's caller caller's visitor's guest's sender reporters person person's people people's their his
    nutzer nutzers benutzer benutzers kunden kunde ich mein meine meinen schülers anwenders utilisateur l'utilisateur client mon ma mes je élève
    usuario cliente mi mis yo alumno estudiante utente dell'utente l'utente mio mia io studente usuário cliente meu minha eu aluno d'utilisateur`,
  y: 'your yours our its dein deine deinen deiner deinem unser unsere ton ta tes votre vos notre tus nuestro nuestra tuo tua tuoi nostro seu sua nossa nosso',
  L: `sentiment sentiments intent intention emotion emotions tone register formality grammar spelling punctuation mistakes mistake errors
    typos topic category entities keywords toxicity politeness slang dialect vocabulary style mood wording stimmung absicht tonfall rechtschreibung
    grammatik fehler sentiment l'intention ton l'orthographe orthographe fautes erreurs sentimiento intención tono ortografía faltas
    gramática errores sentimento intenzione tono ortografia errori grammatica intenção tom erros gramaticais`,
  W: 'what whatever everything anything was alles ce tout todo ciò quello tutto tudo que',
  J: 'it them this that those these es ihn sie diese le la les lo',
  D: `the o each every any all following last first latest incoming whole entire original exact next same other english german french der die das den
    dem des jede jeden jedes alle folgenden folgende l' le la les chaque toutes tous suivant el los las cada todos todas
    siguiente gli il ogni tutti tutte seguente os as todas seguinte do da dos das del della dell' du au al aos`,
  i: 'a an one ein eine einen un une una uno um uma',
  P: `of in from for with about on by as into zu ins von vom aus für im en dans pour à por para con di in per em de`,
  z: `english german french spanish italian portuguese dutch polish turkish russian chinese japanese korean arabic hindi latin greek czech ukrainian swedish norwegian danish finnish hungarian romanian vietnamese
    thai indonesian hebrew persian urdu bengali swahili catalan mandarin englische deutsche
    französische spanische anglais allemand français espagnol inglés alemán francés español inglese tedesco francese spagnolo inglês alemão`,
  p: 'to',
  k: 'and or then but und oder dann et ou puis y e ed poi então plus',
  v: `always please only just simply first also immediately again now do finally instead directly silently carefully must task job role goal immer bitte
    nur zuerst toujours seulement siempre solo sempre apenas politely help`,
  o: "you you’ll you'll let we du tu tú você",
  F: 'will shall should must would soll sollst wirst musst dois devez debes devi deve deberás',
  B: 'is are be ist est es è é sein',
  h: 'that which who qui che',
  X: "not never don't don’t no without avoid cannot nicht nie kein keine pas jamais nunca non não sin sans",
  n: 'can may could might able kann können peut puede può pode',
}

const classes: ReadonlyMap<string, string> = new Map(
  Object.entries(CLASSES).flatMap(([letter, list]) => [...wordSet(list)].map(word => [word, letter] as const)),
)

/** Words and marks. A semicolon or colon is a class of its own, and a comma is one with "and". */
const token = /[\p{L}\p{N}][\p{L}\p{M}\p{N}'’-]*|[,;:]/gu
const marks: ReadonlyMap<string, string> = new Map([
  [',', 'k'],
  [';', ';'],
  [':', ';'],
])

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
  // Given a review. You will receive a sentence.
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
  /\b(?:rate|score|judge|assess|evaluate|say|tell)\b.{0,40}\b(?:how \w+|whether)\b.{0,40}\b(?:message|text|writer|sentence|wording|word)\b/,
  /\b(?:json|object|keys?|fields?)\b.{0,60}\b(?:intent|sentiment|entities|emotion|translation|toxicity|corrected\w*|original_\w+)\b/,
  /\bits (?:\w+ )?(?:translation|summary|correction|paraphrase|opposite)\b/,
  /\b(?:word|sentence|text|phrase|message|line|input) (?:that )?(?:the )?(?:user|student|customer|i) (?:typed|types?|wrote|writes?|entered|enters?|said|pasted)\b/,
  /\bexactly the \w+ (?:in|of|from) the (?:question|message|query)\b/,
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

function lettersOf(sentence: string): string {
  return [...sentence.matchAll(token)].map(([word]) => classes.get(word) ?? marks.get(word) ?? 'x').join('')
}
