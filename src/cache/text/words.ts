/** Closed classes of English words, which begin questions and requests or connect a sentence. */

/** Returns the words of a list separated by white space. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter(Boolean))
}

/** Returns a map from pairs separated by bars: "has have|does do" maps "has" to "have". */
export function wordMap(text: string): ReadonlyMap<string, string> {
  return new Map(phraseList(text).map(pair => pair.split(' ') as [string, string]))
}

/** Returns the phrases of a list separated by bars. */
export function phraseList(text: string): readonly string[] {
  return text.split('|').map(phrase => phrase.trim())
}

export function capitalise(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

export const questionWords = wordSet(
  "what which who whom whose when where why how what's who's where's when's why's how's whats wheres hows whos",
)

export const auxiliaries = wordSet(`
  is are was were am do does did can could should would will shall may might must has have had isn't aren't wasn't weren't don't doesn't didn't
  can't couldn't shouldn't wouldn't won't hasn't haven't hadn't
`)

/** Verbs of requests for information. Verbs that process a given text are omitted. */
export const requestVerbs = wordSet(`
  explain describe list give show tell name define suggest recommend provide compare write create generate calculate compute find discuss outline
  help teach solve make plan draft design state mention elaborate prove derive estimate
`)

/** Words that may begin a sentence and mean the same in lower case. */
export const functionWords = wordSet(`
  a an the this that these those my your his her its our their i you he she it we they there here if when while because although though since as so and
  but or also then however in on at for from to with by of about after before is are was were am be do does did can could should would will shall may might
  must has have had not no what which who whom whose where why how than me him us them some any each every all both many much more most
  im ive dont doesnt didnt isnt cant wont u ur pls
`)

export const sentenceOpeners: ReadonlySet<string> = new Set([
  ...questionWords,
  ...auxiliaries,
  ...requestVerbs,
  'meaning',
  'definition',
  'difference',
  'in',
  'if',
  'steps',
  'best',
])

/** Words of texts in another language, or about one. */
export const foreignWords = wordSet(`
  der das den dem des ein eine einen einem einer eines ist sind und oder nicht ich du er sie wir ihr wie wo wann warum welche welcher welches
  le la les une des du est sont et ou je tu il elle nous vous ils elles que qui quoi quel quelle comment pourquoi dans avec
  el los las una es y yo ella nosotros usted ustedes quien donde cuando por del gli sono io lui lei noi voi che quando perché di della
  os uma é são ele ela nós vocês quem onde não het een zijn niet jij hij zij wij wat waar wanneer waarom hoe bist kann bedeutet kostet
  jest nie jak gdzie kto czy się
`)
