/** Words that make an answer depend on the time of the request. */
import { phraseList, wordSet } from './words.ts'

/** Words that are time-sensitive at any position. */
export const timeSensitiveWords = wordSet(`
  today todays tonight tonights yesterday yesterdays tomorrow tomorrows currently presently nowadays latest newest
  lately recently asap upcoming ongoing now current
  hoy ahora ayer mañana aujourd'hui maintenant demain heute jetzt gestern morgen oggi adesso ieri domani hoje agora ontem amanhã
  vandaag gisteren сегодня сейчас вчера завтра dziś dzisiaj teraz wczoraj jutro bugün şimdi dün yarın اليوم الآن आज अभी
`)

/** Character sequences of scripts without spaces, anywhere in the text. */
export const timeSensitiveCharacters = phraseList(`
  今天| 今日| 现在| 現在| 目前| 昨天| 昨日| 明天| 明日| 最新| 刚才| 오늘| 지금| 어제| 내일| 최신| 今の| วันนี้| ตอนนี้
`)

/** Phrases that are time-sensitive. */
export const timeSensitivePhrases = phraseList(`
  right now| at the moment| at this moment| at present| as of now| as of today| at this time| so far| this instant| just now| just happened|
  i just sent| i just made| i just placed| i just ordered| i just paid| this morning| this afternoon| this evening| this week| this week's|
  this weekend| this month| this month's| this quarter| this year| this year's| this season| last night| last night's| last week| last week's|
  last weekend| last month| last month's| last quarter| last year| last year's| next week| next weekend| next month| next quarter| next year|
  past week| past month| past year| past few days| last few days| last few weeks| days ago| hours ago| minutes ago| weeks ago| months ago|
  time is it| what day is it| what date is it| what year is it| what month is it| weather in| weather like| live score| live scores|
  breaking news| news about| news on| news headlines| still open| still alive| still available| is it raining| is it snowing| when is the next| when does the next|
  next train| next bus| next flight| next game| next match| next election| days until| days till| days left| weeks until| how long until|
  how old am i
`)

/** Phrases for things that change with time, unless a question is about them in general. */
export const timeSensitiveTopics = phraseList(`
  what is the time| what's the time| what is the date| what's the date| stock price| share price| exchange rate| stock market price|
  market cap of| weather forecast| the weather| the news| my balance| my account balance| my available balance| my available credit|
  price of bitcoin| bitcoin price| price of gold| gold price| price of oil| oil price| gas price| gas prices| price of gas
`)

/** Questions about facts that hold for some time: "who is the mayor of Rome", "is the store open on Sunday". */
export const transientFactPattern =
  /^who(?:'s| is) (?:the )?(?:(?:current|new|vice|head) )?(?:[cpv][eft]o|president|prime|premier|chancellor|mayor|governor|king|queen|monarch|pope|chair(?:man|woman|person)|owner|coach|champion)\b|^(?:is|are) (?!an? )(?:\S+ ){1,4}(?:open|closed)(?: (?:on|at|until|till) .*)?$/

/** Contexts in which "now" does not refer to the time of the request. */
export const timelessNowPattern = /(?:^| )(?:_ that|from _ on|(?:until|up to|by) _|_ and then)(?: |$)/

/** Words before which "current" means electric current, an accounting term, or a position in a program. */
export const timelessWordsAfterCurrent = wordSet(`
  flow flows flowing in through or vs versus with from for of than be the divider source sources meter transformer density limiting limiter carrying electricity
  directory folder thread process line element node object context scope branch commit user
  liabilities liability assets asset ratio account accounts yield
`)
export const timelessWordsBeforeCurrent = wordSet(`
  electric electrical alternating direct ocean water eddy induced residual leakage rated dc ac gulf rip river air circuit inrush
  starting load phase collector emitter drain gate saturation reverse forward fault neutral voltage resistance
`)
