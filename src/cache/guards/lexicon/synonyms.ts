/** Words that may stand for one another without changing what is asked; one group a line, base forms. */
import { groupIndex } from './word-list.ts'

export const synonyms = groupIndex(`
  buy purchase
  begin start commence
  end finish conclude
  stop quit cease
  big large huge
  small little tiny
  quick fast rapid speedy
  quickly fast rapidly soon
  smart intelligent clever
  beautiful pretty gorgeous
  attractive handsome beautiful
  sad unhappy
  happy glad
  angry mad furious
  ill sick unwell
  illness sickness disease
  rich wealthy
  poor impoverished
  hard difficult tough
  hardest toughest
  easy simple
  easiest simplest
  best top greatest finest good great
  good great nice excellent awesome amazing
  worst bad
  awful terrible horrible
  scary frightening
  weird strange odd unusual
  weirdest strangest
  funny hilarious humorous
  famous renowned known
  important significant crucial essential key
  interesting fascinating
  boring dull
  useful helpful
  necessary needed required mandatory
  need require
  legit legitimate genuine
  real actual genuine
  true correct
  wrong incorrect
  right correct
  correct accurate
  fake counterfeit
  free complimentary
  inexpensive cheap affordable
  expensive costly pricey
  cheapest affordable
  cost price charge fee
  fee charge
  fare price
  salary pay wage
  earn make gain
  money cash
  revenue income
  job work occupation
  employment job
  career profession
  company firm corporation business
  boss manager
  employee worker staff
  colleague coworker
  kid child
  children kids
  baby infant
  teen teenager adolescent
  woman lady
  mom mother mum
  dad father
  spouse partner
  friend buddy
  human person people
  people folk folks
  talk speak chat
  talk discuss
  say state
  tell inform
  explain describe clarify
  reply respond answer
  ask inquire
  think believe feel
  view opinion perspective thought
  review opinion
  idea suggestion
  know understand
  understand comprehend grasp
  learn study
  teach instruct
  teacher instructor
  student pupil
  college university
  institute centre center institution academy
  class course
  exam examination test
  crack clear pass ace
  marks score grade
  prepare preparation study
  see view watch look
  look appear seem
  show display
  find locate discover
  search find look
  get obtain acquire receive gain
  give provide offer
  grant give
  send mail
  bring take
  hold keep
  keep retain maintain
  fix repair mend resolve solve
  solve resolve
  solution fix
  problem issue trouble
  issue conflict problem
  error mistake
  bug defect
  bug defect
  make create build produce
  create generate produce
  construct build
  develop build create
  design create
  made composed
  write compose
  modify change alter edit
  change switch
  update upgrade
  update change modify
  closest nearest
  tall height
  high height
  old age
  far distance
  long length
  heavy weight
  wide width
  deep depth
  fast speed
  big size
  summarize summarise summary
  analyze analyse analysis
  explain explanation
  describe description
  recommend recommendation suggestion suggest
  advise advice
  pronounce pronunciation
  choose choice
  lose loss
  grow growth
  marry marriage wedding
  apply application
  receive receipt
  safe safety
  legal legality
  long duration
  improve enhance boost better
  boost increase raise
  increase raise grow
  decrease reduce lower
  lower reduce
  reduce lessen
  shrink reduce
  delete remove erase
  remove eliminate
  eliminate rid
  choose select pick
  use utilize utilise employ
  try attempt
  help assist aid
  help support
  allow permit let
  permitted allowed
  prevent avoid
  stop prevent
  restrict limit
  block ban
  join enter
  leave quit exit
  go travel
  visit see
  trip journey travel
  holiday vacation
  tourist traveler traveller visitor
  hotel inn
  car automobile
  bike motorcycle motorbike
  bike bicycle
  plane airplane aeroplane aircraft
  movie film
  show series
  tv television
  picture photo image photograph pic
  photo image
  video clip
  song track
  music song
  book novel
  story tale
  author writer
  author write
  article post
  site website
  website webpage
  internet web net
  online internet
  app application
  phone mobile cellphone smartphone
  cell mobile
  computer pc
  laptop notebook
  email mail
  picture image
  password passcode
  login signin log sign
  sign log
  signup register enroll enrol
  register enroll
  log sign
  method way approach technique manner
  tip trick hack advice
  way mean
  ways means
  step procedure
  procedure process
  reason cause
  cause reason
  effect impact consequence influence
  affect influence impact
  result outcome
  aim goal objective target
  benefit advantage
  advantage pro
  disadvantage drawback downside con
  pros advantages
  cons disadvantages
  difference distinction differ
  differ different
  similar alike
  compare comparison
  kind type sort category
  form type
  sample example instance
  list enumerate name
  name title
  meaning definition mean
  mean define
  define definition
  symptom sign
  medicine drug medication
  doctor physician
  treatment cure remedy therapy
  cure treat heal
  slim thin
  food meal
  dish recipe
  eat consume
  drink consume
  tasty delicious
  house home
  flat apartment
  country nation
  area region
  place location spot
  location address
  street road
  world earth globe
  kill murder
  die dead death
  death die
  suicide kill
  live reside stay
  stay remain
  born birth
  marry wed marriage
  wedding marriage
  love like
  hate dislike
  want wish desire
  hope wish
  dream goal
  worth value
  price value
  quality trait characteristic
  feature characteristic attribute
  skill ability
  ability capability
  strong powerful
  power strength
  weak feeble
  fat obese overweight
  safe secure
  dangerous unsafe harmful risky
  danger risk
  lawful legal
  illegal unlawful
  rule regulation
  government administration
  election vote
  vote ballot
  bill invoice
  order purchase
  shop store
  client customer
  consumer customer
  seller vendor
  supplier vendor
  deliver delivery ship shipping
  parcel package
  reimburse refund
  reimbursed refunded
  withdraw withdrawal
  transfer move
  pay payment
  clear settle
  settle complete
  amount sum
  total sum
  limit maximum cap
  maximum max highest
  minimum min lowest
  max maximum
  min minimum
  average mean
  number count
  count quantity
  quantity amount
  size dimension
  length duration
  duration period
  period time
  time duration
  business working
  cover include
  covered insured
  coverage cover
  belong assign
  apply application
  apply use
  documents paperwork
  proof evidence
  folder directory
  parameter argument
  dictionary dict
  code program
  coding programming
  developer programmer coder
  execute run
  run launch
  launch start open
  install setup
  setup configure
  config configuration configure
  setting configuration
  invoke call
  print output
  print display
  save store
  copy duplicate
  clone copy
  merge combine join
  combine mix
  divide split
  split separate
  verify check validate confirm
  validate verification
  begin launch
  connect link
  link url
  attach join
  disconnect unlink
  activate enable
  deactivate disable
  turn switch
  reset restore
  restore recover
  recover retrieve
  restart reboot
  slow sluggish
  empty blank
  full complete
  whole entire
  entire full
  total complete
  complete finish
  complete entire
  new recent
  old ancient
  ancient old
  early soon
  frequently often
  usually generally normally typically
  commonly usually
  approximately roughly around about
  almost nearly
  nearly about
  maybe perhaps
  probably likely
  possible feasible
  instantly immediately fast
  immediately instantly
  correctly properly
  properly right
  currently presently
  constantly always
  forever permanently
  hire recruit
  fire dismiss
  win victory
  lose loss
  winner champion
  game match
  player athlete
  team squad
  sport game
  practice exercise
  exercise workout
  workout gym
  cloth clothing clothes attire outfit dress wear
  clothes attire
  color colour
  odor smell
  smell scent
  noise sound
  loud noisy
  quiet silent
  rain rainfall
  ocean sea
  forest wood
  stone rock
  garbage trash rubbish waste
  toilet bathroom restroom
  sofa couch
  elevator lift
  truck lorry
  gas petrol gasoline
  autumn fall
  soccer football
  cookie biscuit
  candy sweet
  fries chips
  math maths mathematics
  cv resume
  intellect intelligence
  god deity
  religion faith
  moral ethical
  ethics morality
  common popular
  famous popular
  favorite favourite best
  annoying irritating
  annoy irritate
  bother annoy
  hide conceal
  reveal expose
  shut close
  open start
  close end
  occur happen
  happen occur
  exist be
  become be
  contain include
  include comprise
  consist comprise
  need must
  motivate inspire
  motivation inspiration
  focus concentrate
  concentration focus
  calm relax
  relax rest
  stress anxiety
  anxiety worry
  fear phobia
  afraid scared
  shy timid
  brave courageous
  honest truthful
  lie deceive
  steal rob
  thief robber
  hack crack
  army military
  soldier troop
  foreign overseas
  abroad overseas
  immigrate migrate
  arrive reach
  depart leave
  glue adhesive
  legal lawful
  lawyer attorney
  crime offense offence
  prison jail
  victim casualty
  monthly month
  yearly annually annual
  weekly week
  daily day
  coverage protection
  owner proprietor
  guide tutorial
  tutorial lesson
  manual guide
  instructions directions
  summary overview
  summarize sum
  brief short
  short brief
  tall high
  deep profound
  wide broad
  center centre middle
  top peak
  bottom base
  border boundary
  round circular
  analyse analyze
  organise organize
  realise realize
  recognise recognize
  licence license
  behaviour behavior
  neighbour neighbor
  theatre theater
  grey gray
  cheque check
  programme program
  defence defense
  catalogue catalog
  dialogue dialog
  labour labor
  honour honor
  flavour flavor
  traveller traveler
  jewellery jewelry
  aluminium aluminum
  tyre tire
  kerb curb
  usa america
  purpose role
  pain painful ache hurt
  city town
  uk britain
`)
