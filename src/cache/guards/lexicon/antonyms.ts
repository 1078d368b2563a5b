/** Words that turn a question into its opposite, or into its sibling; one set of rivals a line, in base forms. */
import { rivalIndex } from './word-list.ts'

/** Rivals among content words: where one side has one word and the other side another of the line, the questions differ. */
export const antonyms = rivalIndex(`
  increase raise grow | decrease reduce lower shrink cut drop fall
  raise | lower drop
  grow | shrink decline
  rise | fall drop decline
  gain | lose loss
  win lose
  winner loser
  profit loss
  surplus deficit
  boost | reduce weaken
  maximum minimum
  max min
  maximize minimize
  maximise minimise
  highest lowest
  higher lower
  high low
  tall short
  tallest shortest
  taller shorter
  long short
  longest shortest
  longer shorter
  big | small little tiny
  large small
  biggest smallest
  largest smallest
  bigger smaller
  larger smaller
  best worst
  better worse
  good | bad evil
  nice nasty
  pro con
  advantage disadvantage
  benefit | drawback risk
  strength weakness
  strong weak
  positive negative
  optimist pessimist
  optimistic pessimistic
  buy | sell | rent
  purchase sale
  buyer seller
  buying selling
  import export
  importer exporter
  lend borrow
  lender borrower
  creditor debtor
  credit debit
  deposit | withdraw withdrawal
  waive charge
  free paid
  earn spend
  save spend
  save delete
  save waste
  income | expense expenditure
  asset liability
  revenue cost
  pay receive
  send receive
  sender | recipient receiver
  give take
  give receive
  push pull
  upload download
  upgrade downgrade
  install uninstall
  add remove
  add subtract
  insert | delete remove
  addition subtraction
  multiply divide
  multiplication division
  create | delete destroy
  build | demolish destroy
  enable disable
  activate deactivate
  allow let | forbid block prevent ban prohibit deny disallow
  allowed permitted | forbidden prohibited banned
  permit | forbid prohibit
  accept | reject decline refuse deny
  approve | reject deny disapprove
  include exclude
  inclusive exclusive
  open | close shut
  opened closed
  lock unlock
  block unblock
  encrypt decrypt
  encode decode
  encryption decryption
  encoding decoding
  compress | decompress extract
  zip unzip
  pack unpack
  wrap unwrap
  mute unmute
  follow unfollow
  subscribe unsubscribe
  friend | unfriend enemy
  connect disconnect
  attach detach
  mount unmount
  log unlog
  login logout
  signin signout
  entry exit
  enter | leave exit
  entrance exit
  arrive | depart leave
  arrival departure
  inbound outbound
  incoming outgoing
  internal external
  interior exterior
  inner outer
  inside outside
  indoor outdoor
  indoors outdoors
  start | stop end finish
  begin | end finish
  beginning | end ending
  first last
  initial final
  earliest latest
  early late
  earlier later
  old new
  oldest newest
  older | newer younger
  old young
  oldest youngest
  ancient modern
  past future
  previous next
  prior subsequent
  fast slow
  fastest slowest
  faster slower
  quickly slowly
  quick slow
  accelerate | decelerate brake
  speed slow
  hot cold
  hottest coldest
  warm | cool cold
  heat cool
  heating cooling
  freeze | melt thaw
  boil freeze
  boiling freezing
  wet dry
  dry humid
  hard soft
  hard easy
  harder easier
  hardest easiest
  hardware software
  difficult easy
  easy | difficult tough
  simple | complex complicated
  cheap expensive
  cheapest costliest
  cheaper costlier
  rich poor
  richest poorest
  heavy light
  heavier lighter
  heaviest lightest
  dark | light bright
  black white
  thick thin
  thicker thinner
  wide narrow
  deep shallow
  full empty
  loud quiet
  safe | dangerous unsafe
  safest riskiest
  clean dirty
  sharp | blunt dull
  smooth rough
  tight loose
  public private
  legal illegal
  lawful unlawful
  guilty innocent
  true false
  right wrong
  correct | wrong incorrect
  real fake
  natural | artificial synthetic
  organic inorganic
  alive dead
  life death
  live die
  birth death
  born died
  male female
  men women
  man woman
  boy girl
  husband wife
  mother father
  mom dad
  mum dad
  mothers fathers
  brother sister
  son daughter
  uncle aunt
  nephew niece
  boyfriend girlfriend
  king queen
  prince princess
  actor actress
  gentleman lady
  bride groom
  bull cow
  hen rooster
  parent child
  teacher student
  doctor patient
  employer employee
  landlord tenant
  lessor lessee
  payer payee
  host guest
  client server
  plaintiff defendant
  predator prey
  attack defend
  attacker | defender | victim
  offense defense
  offensive defensive
  war peace
  love hate
  like | dislike hate
  happy | sad unhappy
  happiness sadness
  trust | distrust mistrust
  believe | doubt disbelieve
  agree disagree
  appear disappear
  remember forget
  find lose
  found lost
  hide | show reveal
  visible | invisible hidden
  above below
  overt covert
  upstairs downstairs
  top bottom
  upper lower
  front | back rear
  forward | backward reverse
  forwards backwards
  left right
  north south east west
  northern southern eastern western
  northeast northwest southeast southwest
  horizontal vertical
  row column
  width height depth length
  odd even
  prime composite
  rational irrational
  real imaginary
  positive negative neutral
  ascending descending
  ascend descend
  numerator denominator
  sine cosine tangent
  sin cos tan
  integral derivative
  integrate differentiate
  perimeter area volume
  radius diameter circumference
  mean median mode
  union intersection
  parallel | series | perpendicular
  parallel | sequential serial
  synchronous asynchronous
  sync async
  static dynamic
  mutable immutable
  constant variable
  local global remote
  local foreign
  domestic | international foreign
  national international
  read write
  input output
  reader writer
  get set
  serialize deserialize
  allocate free
  commit rollback
  push pop
  enqueue dequeue
  head tail
  signed unsigned
  valid invalid
  major minor
  majority minority
  adult child minor
  senior junior
  beginner | advanced expert
  premium basic standard
  temporary permanent
  optional | mandatory required compulsory
  voluntary | compulsory involuntary
  fixed | variable adjustable
  gross net
  simple compound
  direct indirect
  active | passive inactive
  present absent past
  presence absence
  common rare
  frequent | rare infrequent
  frequently | rarely seldom
  always never sometimes
  usually | rarely | never
  often | never | rarely seldom
  all | none | some
  everything nothing
  everyone nobody
  everybody nobody
  anything nothing
  single multiple
  single married divorced
  singular plural
  marry divorce
  marriage divorce
  married unmarried
  together apart
  similarity difference
  similar different
  same different
  similarities differences
  question answer
  cause effect
  cause prevent
  cause cure
  reason consequence
  cause symptom treatment
  treat prevent
  theory practice
  success failure
  succeed fail
  successful unsuccessful
  pass fail
  passed failed
  hire fire
  hired fired
  join leave
  stay leave
  morning evening night afternoon
  day night
  daily | weekly | monthly | yearly annual | hourly
  weekday weekend
  summer | winter | spring | autumn
  sunrise sunset
  lunch dinner breakfast
  sweet sour bitter salty
  hungry full
  acid | base alkaline
  acidic | basic alkaline
  solid liquid gas
  cation anion
  proton electron neutron
  anode cathode
  arteries veins
  artery vein
  bacteria virus
  inhale exhale
  hyperglycemia hypoglycemia
  hypertension hypotension
  hyperthyroidism hypothyroidism
  lengthen shorten
  widen narrow
  tighten loosen
  strengthen weaken
  expand contract
  expansion contraction
  inflation deflation
  bull bear
  bullish bearish
  demand supply
  producer consumer
  wholesale retail
  subjective objective
  qualitative quantitative
  abstract concrete
  macro micro
  macroeconomics microeconomics
  theoretical practical
  liberal conservative
  democrat republican
  democrats republicans
  capitalism communism socialism
  atheist theist
  heaven hell
  god devil
  angel demon
  hero villain
  vegetarian carnivore
  human animal
  introvert extrovert
  introverts extroverts
  asleep awake
  sleep wake
  sit stand
  teach learn
  lead follow
  leader follower
  win draw
  ask answer
  literal figurative
  vowel consonant
  noun verb adjective adverb
  transitive intransitive
  prefix suffix
  synonym antonym
  homonym synonym
  uppercase lowercase
  bold italic
  landscape portrait
  debug release
  develop test
  production | staging | development
  frontend backend
  frontends backends
  primary secondary tertiary
  primary foreign
  master | slave replica
  ancestor descendant
`)

/** Rivals among the words of structure, where a swap changes the question: time, direction, presence, side. */
export const rivalFunctionWords = rivalIndex(`
  before | after | within | during | until till | since | while
  above | below
  over | under
  up | down
  in | out
  on | off
  into | out
  inside | outside
  for | against
  everything | nothing
  everyone everybody | nobody none | someone somebody anyone anybody
  all | none | some
  every | some | none
  more | less fewer
  most | least fewest
  many | few
  much | little
  both | neither | either
  always | never
  he | she
  him | her
  his | her
  himself | herself
  if | unless
  least | exactly | most
  too | enough
`)
