/** Additions to WordNet: irregular inflections, recent names, opposites. */

const verbs = `
  be was were been being am is are|have had has|do did done does|go went gone|say said|make made|know knew known|take took taken|see saw seen|come came|think thought
  get got gotten|give gave given|find found|tell told|become became|leave left|feel felt|put put|bring brought|begin began begun|keep kept
  hold held|write wrote written|stand stood|hear heard|let let|mean meant|set set|meet met|run ran|pay paid|sit sat|speak spoke spoken|lie lay lain lying
  lead led|read read|grow grew grown|lose lost|fall fell fallen|send sent|build built|understand understood|draw drew drawn|break broke broken
  spend spent|cut cut|rise rose risen|drive drove driven|buy bought|wear wore worn|choose chose chosen|seek sought|throw threw thrown|catch caught
  deal dealt|win won|forget forgot forgotten|sell sold|fight fought|teach taught|eat ate eaten|sing sang sung|strike struck stricken|hang hung|shake shook shaken
  ride rode ridden|feed fed|shoot shot|drink drank drunk|hit hit|arise arose arisen|fly flew flown|sleep slept|cost cost|beat beat beaten|swim swam swum
  bear bore borne born|steal stole stolen|hide hid hidden|bite bit bitten|blow blew blown|lend lent|freeze froze frozen|ring rang rung|wake woke woken
  lay laid|shut shut|spread spread|split split|swear swore sworn|tear tore torn|bend bent|bind bound|burst burst|dig dug|dive dove|forbid forbade forbidden
  forgive forgave forgiven|grind ground|hurt hurt|kneel knelt|leap leapt|learn learnt|burn burnt|dream dreamt|light lit|prove proven|quit quit|seal sealed|sew sewn|shine shone
  shrink shrank shrunk|sink sank sunk|slide slid|smell smelt|spell spelt|spill spilt|spin spun|spit spat|stick stuck|sting stung|sweep swept|swell swollen|swing swung
  weave wove woven|weep wept|withdraw withdrew withdrawn|undergo underwent undergone|overcome overcame|mistake mistook mistaken|die dying|tie tying
  undo undid undone|redo redid redone|rewrite rewrote rewritten|breed bred|cling clung|creep crept|flee fled|show shown|stride strode|string strung|tread trod|bid bid|cast cast|bet bet|rid rid
`
const nouns = `
  man men|woman women|child children|person people|foot feet|tooth teeth|goose geese|mouse mice|ox oxen|life lives|wife wives|knife knives|leaf leaves|half halves
  shelf shelves|thief thieves|wolf wolves|calf calves|loaf loaves|self selves|analysis analyses|crisis crises|basis bases|thesis theses|hypothesis hypotheses|diagnosis diagnoses
  criterion criteria|phenomenon phenomena|cactus cacti|fungus fungi|nucleus nuclei|stimulus stimuli|syllabus syllabi|bacterium bacteria|curriculum curricula|medium media|appendix appendices|index indices
  matrix matrices|vertex vertices|axis axes|datum data|alumnus alumni
`
const comparatives = `good better|bad worse|well better|far farther further|little less|much more|many more`
const superlatives = `good best|bad worst|well best|far farthest furthest|little least|much most|many most`

function formsOf(table: string, mark: string): string[] {
  return table
    .split(/[|\n]/)
    .map(line => line.trim().split(' '))
    .flatMap(([base, ...forms]) => forms.map(form => `${form}\t${base}\t${mark}`))
}

/** Form, base, and `d` (past), `s` (plural), `c` (comparative), `t` (superlative), separated by tabs. */
export const irregularForms: readonly string[] = [
  ...formsOf(verbs, 'd'),
  ...formsOf(nouns, 's'),
  ...formsOf(comparatives, 'c'),
  ...formsOf(superlatives, 't'),
]

/** Acronyms are written in capitals. */
export const recentNames: readonly string[] = `
  microsoft facebook instagram netflix spotify samsung toyota nokia sony nvidia airbnb reddit quora tumblr pinterest wikipedia debian kubernetes
  gmail skype dropbox obama jquery javascript typescript postgresql postgres mysql sqlite mongodb github gitlab youtube linkedin whatsapp paypal ebay iphone
  ipad ios macos macbook wordpress openai chatgpt powerpoint graphql fastapi numpy pytorch tensorflow autocad tiktok intellij devops wifi playstation snapchat
  SQL CSS HTTPS JSON YAML PHP URL USB GPU GMAT IELTS TOEFL UPSC IIT IIM IBM BMW ADHD PTSD SEO CEO CFO GPS IQ SSC IAS CGL IBPS RBI CBSE ISRO GST nodejs
  berlin lisa hana kyiv mumbai bangalore chennai kolkata bengaluru telugu brexit bitcoin ethereum uber tesla huawei xiaomi lenovo asus photoshop redis docker mariadb
  india indian brazil brazilian bolivia wales brussels geneva pune shanghai florida kerala arabic dutch swedish scottish antarctica diwali google
  XML FTP DNS VPN NBA NFL NHL FIFA anthropic grafana nginx vscode blockchain cryptocurrency terraform django laravel hadoop vue
`
  .split(/\s+/)
  .filter(Boolean)

/** Opposites that WordNet lacks, or has only in rare senses. */
const pairs =
  `gain lose|join leave|lend borrow|teach learn|merge split|compress extract|compress expand|mandatory optional|required optional|hire fire|send receive
  give take|give receive|arrive depart|arrive leave|cause prevent|cause cure|treat cause|treat prevent|treat worsen|cover exclude|cover omit|gross net|debit credit|premium basic|free paid|host guest
  sender recipient|landlord tenant|doctor patient|teacher student|inside outside|indoors outdoors|morning evening|old new|keep delete|keep remove|save spend|save delete|stay leave
  hide show|reveal hide|build destroy|create delete|create destroy|add remove|help harm|fix break|repair break|approve deny|allow prevent|allow block|follow lead|follow unfollow`
    .split(/[|\n]/)
    .map(pair => pair.trim().split(' '))

/** By word, in both directions. */
export const moreOpposites = Map.groupBy(
  pairs.flatMap(([one = '', other = '']) => [
    [one, other],
    [other, one],
  ]),
  ([word = '']) => word,
)
