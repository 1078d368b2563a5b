/**
 * British spellings with their American ones. Left out are spellings that distinguish two words in British English (practise, tyre,
 * storey, cheque, grey), and those that reveal which country is meant (labour, defence, offence).
 */
import { lowerKey } from '../phrases.ts'
import { rewrite, type Token, wordSet } from '../token.ts'

const pairs = `
  colour color|colours colors|coloured colored|colouring coloring|colourful colorful|favourite favorite|favourites favorites
  favour favor|favours favors|flavour flavor|flavours flavors|honour honor|honours honors|neighbour neighbor
  neighbours neighbors|neighbourhood neighborhood|behaviour behavior|behaviours behaviors|harbour harbor|rumour rumor|rumours rumors
  humour humor|odour odor|odours odors|vapour vapor|tumour tumor|tumours tumors|armour armor|endeavour endeavor|savoury savory
  centre center|centres centers|theatre theater|theatres theaters|litre liter|litres liters|fibre fiber|fibres fibers
  millilitre milliliter|millilitres milliliters|kilometre kilometer|kilometres kilometers|centimetre centimeter|centimetres centimeters
  aluminium aluminum|jewellery jewelry|maths math|mould mold|moustache mustache
  travelling traveling|travelled traveled|traveller traveler|travellers travelers|cancelled canceled|cancelling canceling
  modelling modeling|modelled modeled|labelled labeled|labelling labeling|fuelled fueled|marvellous marvelous|counselling counseling
  counsellor counselor|fulfil fulfill|enrol enroll|skilful skillful|instalment installment|instalments installments
  encyclopaedia encyclopedia|anaemia anemia|diarrhoea diarrhea|oestrogen estrogen|paediatric pediatric|paediatrician pediatrician
  manoeuvre maneuver|catalogue catalog|analyse analyze|analysed analyzed|analysing analyzing|paralyse paralyze|pyjamas pajamas
`
/** Misspellings that are no words themselves and have one correction; variants in both kinds of English. */
const variants = `
  weird wierd|receive recieve|received recieved|receiving recieving|definitely definately|definitely definitly|separate seperate|separately seperately
  occurred occured|beginning begining|believe beleive|achieve acheive|address adress|argument arguement|colleague collegue|committed commited
  conscious concious|embarrass embarass|embarrassing embarassing|environment enviroment|existence existance|experience experiance
  foreign foriegn|government goverment|happened happend|immediately immediatly|independent independant|knowledge knowlege|necessary neccessary
  opportunity oppurtunity|preferred prefered|probably probaly|publicly publically|recommend recomend|relevant relevent|religious religous
  restaurant resturant|restaurants resturants|rhythm rythm|successful succesful|successful successfull|surprise suprise|tomorrow tommorow
  tomorrow tommorrow|truly truely|which wich|because becuase|difference diffrence|difference differance|business buisness|business bussiness
  benefits benifits|interested intrested|language langauge|preparation prepration|preparation preperation|preparations preprations
  among amongst|while whilst|toward towards|learned learnt|email e-mail|emails e-mails|ok okay
`
/** Verbs in -ise, with their forms. */
const verbs = `
  organ real recogn apolog optim custom special minim maxim priorit visual normal author categor character critic emphas final general
  hospital immun individual initial legal local memor mobil modern monet neutral penal popular privat public random rational
  revolution serial social stabil standard steril symbol sympath synchron util vandal civil computer crystal digit econom energ equal
  familiar fertil harmon ideal industrial internal item jeopard material personal polar scrutin victim
`

const american: ReadonlyMap<string, string> = new Map([
  ...variants
    .split(/[|\n]/)
    .map(pair => pair.trim().split(' '))
    .flatMap(([written, other]) => (written && other ? [[other, written] as const] : [])),
  ...pairs
    .split(/[|\n]/)
    .map(pair => pair.trim().split(' '))
    .flatMap(([british, other]) => (british && other ? [[british, other] as const] : [])),
  ...verbs
    .split(/\s+/)
    .filter(Boolean)
    .flatMap(stem =>
      ['ise ize', 'ises izes', 'ised ized', 'ising izing', 'isation ization', 'isations izations', 'iser izer'].map(
        pair => {
          const [british, other] = pair.split(' ')
          return [`${stem}${british}`, `${stem}${other}`] as const
        },
      ),
    ),
])

/** Before a word that is mentioned: "do Canadians write colour". "is recieve right". */
const mentions = wordSet(
  'write writes wrote written writing type types typed typing google autocorrect domain add play accept changing',
)

const judged = wordSet('right valid correct british american')

/** Returns the American spelling of a British one in lower case, if the word is used and not mentioned as in "is it colour". */
export function writeSpelling(token: Token, at: number, all: readonly Token[]): Token {
  const other = token.kind === 'word' ? american.get(token.key) : undefined
  const next = all[at + 1]
  const before = lowerKey(all[at - 1])
  const isNamed =
    before === 'it' ? next === undefined || next.kind === 'mark' : mentions.has(before) || judged.has(lowerKey(next))
  return other === undefined || isNamed || all.some(isLetter) ? token : rewrite(token, other, 'spelling')
}

/** Recognizes single letters: "Why is there a u in colour." */
function isLetter({ kind, key }: Token): boolean {
  return kind === 'word' && /^[b-hj-z]$/i.test(key)
}
