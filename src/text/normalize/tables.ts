/** The words the normalizer knows. To teach it more, add a line to a table: nothing else has to change. */

/** Words of courtesy that say nothing about the answer. */
export const courtesyWords = new Set(['please', 'pls', 'plz', 'plss', 'kindly'])

/** What makes a leading "please" the subject of the prompt ("please in French", "please and thank you") instead of a courtesy. */
export const topicFollowers = new Set(
  'in and or is are was has as vs versus means mean meaning definition synonym synonyms antonym translation me everyone him'.split(
    ' ',
  ),
)

/** What makes a trailing "please" the object of the prompt ("what rhymes with please") instead of a courtesy. */
export const mentionsBefore = new Set(
  'of with to for the a an and or is are not as mean means meant called than like use uses using type write about how i you we they'.split(
    ' ',
  ),
)

/** After these and before a question word, courtesy is filler inside a prompt too: "tell me please what …". */
export const addressed = new Set(['me', 'us', 'you', 'explain', 'know'])

/** What makes a mark that stands alone at the end the subject of the prompt ("the meaning of ?"). */
export const marksBefore = new Set(
  'of is the a an mean means called operator symbol mark character does do use using type with and or to'.split(' '),
)

/** Titles and sayings made of filler words; they are left alone. */
export const protectedPhrases = ['please please me', 'please mister postman', 'please mr postman', 'hello world']

/** From one of these words on, the prompt may be *about* wording, so the rest keeps its own words. */
export const mentionWords = new Set(
  (
    'say says saying spell spelled spelt spelling translate translates translated translating translation pronounce pronounced ' +
    'word phrase rhyme rhymes conjugate rewrite rephrase reword paraphrase proofread contraction contractions synonym synonyms antonym antonyms acronym'
  ).split(' '),
)

/** Greetings, filler where punctuation sets them off at the start. */
export const greetings = [
  'hi',
  'hello',
  'hey',
  'hi there',
  'hello there',
  'hey there',
  'greetings',
  'good morning',
  'good afternoon',
  'good evening',
]

/** Openings that vanish whatever follows, unless it is one of `frameBlockers`. */
export const openingFrames = [
  'can you tell me',
  'could you tell me',
  'would you tell me',
  'will you tell me',
  'can you please tell me',
  'could you please tell me',
  'would you please tell me',
  'can you kindly tell me',
  'could you kindly tell me',
  'can you let me know',
  'could you let me know',
  'can you please let me know',
  'could you please let me know',
  'i would like to know',
  'i would really like to know',
  'i would love to know',
  'i want to know',
  'i wanted to know',
  'i need to know',
]

export const frameBlockers = new Set([
  'apart',
  'from',
  'off',
  'more',
  'everything',
  'anything',
  'nothing',
  'something',
  'it',
  'this',
  'that',
  'them',
  'you',
])

/** Openings that vanish only before a question word: "do you know Python?" is a question of its own. */
export const questionFrames = [
  'tell me',
  'do you know',
  'do you happen to know',
  'i wonder',
  'i was wondering',
  'i am wondering',
  'i am curious',
  'i would like to ask',
  'i want to ask',
  'can i ask',
  'may i ask',
  'does anyone know',
  'can anyone tell me',
  'can someone tell me',
  'could someone tell me',
]

export const questionWords = new Set('what which who whom whose when where why how if whether'.split(' '))

/** Openings that vanish only before a request verb: "could you survive on Mars?" is a question of its own. */
export const requestFrames = [
  'can you',
  'could you',
  'would you',
  'will you',
  'i need you to',
  'i want you to',
  'i would like you to',
  'would you be able to',
  'could you be able to',
  'would you be so kind as to',
  'would you be kind enough to',
  'i was wondering if you could',
  'i wonder if you could',
  'it would be great if you could',
]

/** What an assistant is asked to do. */
export const requestVerbs = new Set(
  (
    'tell explain give show help write list describe translate summarize summarise provide find create generate make check calculate ' +
    'compute convert define compare suggest recommend name clarify elaborate outline draft analyze analyse solve rewrite rephrase ' +
    'paraphrase proofread correct fix review identify classify extract sort implement refactor debug design plan teach discuss ' +
    'answer confirm state specify share walk recite simplify evaluate estimate interpret format count print output return ' +
    'complete continue finish expand shorten improve edit recap illustrate demonstrate derive prove factor plot draw look search add ' +
    'remind advise mention repeat assess verify validate render parse transform enumerate cite quote'
  ).split(' '),
)

/** Words of courtesy at the end of a prompt. */
export const closingFillers = [
  'please',
  'pls',
  'plz',
  'kindly',
  'thanks',
  'thank you',
  'thx',
  'thanks a lot',
  'many thanks',
  'thank you very much',
  'thank you so much',
  'thanks so much',
  'thanks in advance',
  'thank you in advance',
]

/** Contractions, with the spellings that drop the apostrophe where those are no words of their own. */
export const contractions = new Map<string, string>(
  Object.entries({
    "what's": 'what is',
    whats: 'what is',
    "who's": 'who is',
    "where's": 'where is',
    wheres: 'where is',
    "when's": 'when is',
    "why's": 'why is',
    "how's": 'how is',
    hows: 'how is',
    "which's": 'which is',
    "what're": 'what are',
    "where're": 'where are',
    "who're": 'who are',
    "how're": 'how are',
    "what'll": 'what will',
    "who'll": 'who will',
    "how'll": 'how will',
    "what'd": 'what did',
    "where'd": 'where did',
    "why'd": 'why did',
    "how'd": 'how did',
    "it's": 'it is',
    "that's": 'that is',
    thats: 'that is',
    "there's": 'there is',
    "here's": 'here is',
    "he's": 'he is',
    "she's": 'she is',
    "let's": 'let us',
    "i'm": 'i am',
    "you're": 'you are',
    youre: 'you are',
    "we're": 'we are',
    "they're": 'they are',
    theyre: 'they are',
    "i've": 'i have',
    ive: 'i have',
    "you've": 'you have',
    "we've": 'we have',
    "they've": 'they have',
    "i'll": 'i will',
    "you'll": 'you will',
    "he'll": 'he will',
    "she'll": 'she will',
    "it'll": 'it will',
    "we'll": 'we will',
    "they'll": 'they will',
    "that'll": 'that will',
    "can't": 'cannot',
    "won't": 'will not',
    "shan't": 'shall not',
    "don't": 'do not',
    dont: 'do not',
    "doesn't": 'does not',
    doesnt: 'does not',
    "didn't": 'did not',
    didnt: 'did not',
    "isn't": 'is not',
    isnt: 'is not',
    "aren't": 'are not',
    arent: 'are not',
    "wasn't": 'was not',
    wasnt: 'was not',
    "weren't": 'were not',
    werent: 'were not',
    "haven't": 'have not',
    havent: 'have not',
    "hasn't": 'has not',
    hasnt: 'has not',
    "hadn't": 'had not',
    hadnt: 'had not',
    "couldn't": 'could not',
    couldnt: 'could not',
    "shouldn't": 'should not',
    shouldnt: 'should not',
    "wouldn't": 'would not',
    wouldnt: 'would not',
    "mustn't": 'must not',
    "needn't": 'need not',
    "could've": 'could have',
    "should've": 'should have',
    "would've": 'would have',
    gonna: 'going to',
    wanna: 'want to',
    gotta: 'got to',
  }),
)

/** "'d" is "would" before these, and may be "had" elsewhere. */
export const wouldFollowers = new Set(['like', 'love', 'prefer', 'appreciate', 'want', 'rather', 'really'])

/** Ways to ask the same thing, at the start of a sentence: from the first form to the second. */
export const questionPatterns: ReadonlyArray<readonly [from: string, to: string]> = [
  ['how do i', 'how to'],
  ['how do we', 'how to'],
  ['how can i', 'how to'],
  ['how can we', 'how to'],
  ['how could i', 'how to'],
  ['how could we', 'how to'],
  ['how would i', 'how to'],
  ['how does one', 'how to'],
  ['how can one', 'how to'],
  ['how might i', 'how to'],
]

/** "How do I look?" asks for an opinion, not for a method. */
export const patternBlockers = new Set(
  'look feel sound seem appear compare differ rank know i you we he she they it not'.split(' '),
)

/** Operators spelled out; each is one only between two operands. */
export const operators: ReadonlyArray<readonly [from: string, to: string]> = [
  ['times', '×'],
  ['multiplied by', '×'],
  ['plus', '+'],
  ['minus', '-'],
  ['divided by', '÷'],
  ['to the power of', '^'],
  ['x', '×'],
  ['*', '×'],
]

export const numberWords = new Set(
  (
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen ' +
    'nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion'
  ).split(' '),
)

/** After "3 times 2" these words show that something happened three times: "3 times 2 days ago". */
export const countedUnits = new Set(
  'second seconds minute minutes hour hours day days week weeks month months year years night nights'.split(' '),
)
