/** Words that carry structure instead of content, and words too general to make a question another one. */
import { wordSet } from './word-list.ts'

/** Articles, pronouns, auxiliaries, prepositions, conjunctions, question words, courtesy. Other guards watch the few that matter. */
export const functionWords = wordSet(`
  a an the this that these those some any i me my mine myself we us our ours ourselves you your yours yourself yourselves u
  he him his himself she her hers herself it its itself they them their theirs themselves one ones someone somebody anyone
  anybody everyone everybody something anything everything who whom whose what which when where why how whatever whichever whoever wherever whenever however
  be am is are was were been being do does did done doing have has had having will would shall should can could may might must
  ought gonna wanna cannot of in on at to for from with by about as into onto upon through via per than then there here and or but nor
  so yet if whether because since while not no never without neither none nothing nobody nowhere unless until till
  also too very really just quite rather actually even still already ever exactly basically simply literally truly
  please pls plz kindly thanks thank hi hello hey let lets such same other others another each every both either all more most
  less least much many few fewer several lot lots up down out off over under away again further once between among amongst against
  during before after above below across along around within toward towards behind beyond near despite except besides etc
  eg ie vs versus s t d ll m re ve ok okay well
  times plus minus multiplied divided
  wonder wondering supposed going
  howdo wat whats hows
`)

/**
 * General words: left over on one side only, or on both in different places, they do not make two questions differ.
 * Standing in each other's place they do.
 */
export const lightWords = wordSet(`
  get take make give go come put keep find see look try become happen exist
  way method approach step process technique tip trick advice suggestion idea example thing stuff kind type sort form kinds part
  good great nice best better top perfect ideal favorite favourite popular common main major important basic useful effective
  possible able easy simple correct proper right real true sure certain various different general overall particular specific
  own tell told back know think want need like opinion detail mind
  people person someone man human guy individual user customer member
  use using work say ask answer question explain describe mean meaning definition define purpose
  number amount level rate size value detail info information fact reason result
  world life place area day time year moment today
  account item product service system page
  require required involve include cover apply available automatic
  business long quick quickly fast soon
`)
