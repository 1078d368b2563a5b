/** Word forms that no rule explains, and words that only look inflected. */
import { wordSet } from './word-list.ts'

const irregularForms = `
  be am is are was were been being
  have has had having
  do does did done doing
  go goes went gone going
  get gets got gotten getting
  make makes made making
  take takes took taken taking
  give gives gave given giving
  come comes came coming
  see sees saw seen seeing
  know knows knew known
  think thinks thought
  find finds found
  say says said
  tell tells told
  become becomes became
  begin begins began begun
  break breaks broke broken
  bring brings brought
  build builds built
  burn burns burnt burned
  buy buys bought
  catch catches caught
  choose chooses chose chosen
  cost costs
  cut cuts cutting
  deal deals dealt
  die dies died dying
  draw draws drew drawn
  dream dreams dreamt dreamed
  drink drinks drank drunk
  drive drives drove driven
  eat eats ate eaten
  fall falls fell fallen
  feed feeds fed
  feel feels felt
  fight fights fought
  fly flies flew flown
  forget forgets forgot forgotten
  freeze freezes froze frozen
  grow grows grew grown
  hang hangs hung
  hear hears heard
  hide hides hid hidden
  hold holds held
  keep keeps kept
  lay lays laid
  lead leads led
  learn learns learnt learned
  leave leaves left leaving
  lend lends lent
  lie lies lied lying
  lose loses lost losing
  mean means meant
  meet meets met
  pay pays paid payment
  prove proves proved proven
  put puts putting
  read reads
  ride rides rode ridden
  ring rings rang rung
  rise rises rose risen
  run runs ran running
  seek seeks sought
  sell sells sold
  send sends sent
  set sets setting settings
  shake shakes shook shaken
  shine shines shone
  shoot shoots shot
  show shows showed shown
  sing sings sang sung
  sink sinks sank sunk
  sit sits sat
  sleep sleeps slept
  speak speaks spoke spoken speaking
  speech speeches
  spell spells spelt spelled
  spend spends spent
  stand stands stood
  steal steals stole stolen
  stick sticks stuck
  strike strikes struck
  swear swears swore sworn
  swim swims swam swum
  teach teaches taught
  tear tears tore torn
  throw throws threw thrown
  understand understands understood
  use uses used using usage
  wake wakes woke woken
  wear wears wore worn
  win wins won winning
  write writes wrote written writing
  man men
  woman women
  child children
  person persons people
  foot feet
  tooth teeth
  mouse mice
  goose geese
  life lives
  wife wives
  knife knives
  leaf leaves
  wolf wolves
  half halves
  self selves
  shelf shelves
  thief thieves
  analysis analyses
  crisis crises
  thesis theses
  hypothesis hypotheses
  basis bases
  criterion criteria
  phenomenon phenomena
  datum data
  index indices indexes
  matrix matrices
  vertex vertices
  cactus cacti
  fungus fungi
  query queries
  movie movies
  cookie cookies
  tie ties tying
  zombie zombies
  calorie calories
  selfie selfies
  hoodie hoodies
  genie genies
  rookie rookies
  series
  species
  bus buses
  gas gases
  virus viruses
  status statuses
  quiz quizzes
  photo photos
  hero heroes
  potato potatoes
  tomato tomatoes
`

/** For each irregular form, its base form. */
export const baseForms: ReadonlyMap<string, string> = new Map(
  irregularForms
    .trim()
    .split('\n')
    .flatMap(line => {
      const forms = line.trim().split(/\s+/)
      return forms.map(form => [form, forms[0] ?? form] as const)
    }),
)

/** Words that end like a plural, an "-ing" or an "-ed" form and are words of their own: "marketing" is no form of "market". */
export const ownWords = wordSet(`
  news lens series species means physics mathematics economics politics ethics statistics athletics genetics mechanics electronics
  goods customs arms glasses pants thanks always perhaps besides towards sometimes plus minus versus less unless across this thus
  savings earnings belongings surroundings proceedings headquarters whereas yes us gas bus
  marketing accounting engineering banking programming building meeting housing clothing training shopping painting advertising
  checking being string king ring spring wing thing nothing something anything everything morning evening ceiling wedding pudding
  during sibling earring boxing wrestling bowling rating offering setting settings wording beginning happening opening closing
  landing parking heading padding stuffing dressing wiring plumbing mining fishing hunting processing outstanding
  need seed feed weed speed indeed bleed breed red bed shed sled embed hundred sacred naked wicked united biased
  used supposed rugged aged
`)

/** Adverbs in "-ly" that say something else than their adjective. */
export const ownAdverbs = wordSet(
  'hardly lately nearly barely shortly mostly highly badly only early daily family apply reply supply',
)
