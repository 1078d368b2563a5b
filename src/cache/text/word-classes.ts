/** Replaces each word of a sentence by the letter of its class, in which patterns find instructions. */

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
  P: `at since even while because after before during within of in from for with about on by as into zu ins von vom aus für im en dans pour à por para con di in per em de`,
  z: `english german french spanish italian portuguese dutch polish turkish russian chinese japanese korean arabic hindi latin greek czech ukrainian swedish norwegian danish finnish hungarian romanian vietnamese
    thai indonesian hebrew persian urdu bengali swahili catalan mandarin englische deutsche
    französische spanische anglais allemand français espagnol inglés alemán francés español inglese tedesco francese spagnolo inglês alemão español`,
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

/** Returns one letter for each word and mark of a sentence in lower case: `x` for a word without a class. */
export function lettersOf(sentence: string): string {
  return [...sentence.matchAll(token)].map(([word]) => classes.get(word) ?? marks.get(word) ?? 'x').join('')
}
