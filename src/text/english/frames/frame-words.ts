/** Words that English question frames refer to. */
import { wordSet } from '../../token.ts'

/** Verbs with which "how do I" asks for a method. "Look", "feel", "differ" and "sound" ask about a state. */
export const doingVerbs = wordSet(`
  access achieve activate add adjust apply approach archive arrange ask assemble assign attach attract avoid backup bake balance ban become
  begin block boil boost book borrow break build buy calculate call cancel care change charge check choose clean clear clone close code
  collect combine compare compile complete compute configure connect construct contact control convert cook cope copy count crack create
  cure customize cut deactivate deal debug declare decorate define delete deploy design detect determine develop disable disconnect
  display divide do download draw dry dye earn eat edit eliminate embed enable encrypt end enjoy enter erase escape establish estimate
  evaluate exit explain export extend extract file fill filter find finish fix focus follow forget format freeze fry gain generate
  get give grow hack handle hang hide hire implement import improve increase insert inspect install integrate invest join keep kill
  launch lead learn leave limit link list live load lock log loop lose lower maintain make manage market master measure meet memorize
  merge migrate monitor motivate mount move negotiate obtain open optimize order organize overcome pack paint parse pass pay perform
  pick plan plant plot poach post practice prepare present prevent print process promote protect prove publish pull purchase push put
  quit raise reach reactivate read recover redirect reduce refactor register remove rename render renew repair repeat replace
  report request reset resize resolve restart restore retrieve reverse roast run save schedule scrape search secure select
  sell send serve set setup share sharpen sign simplify solve speak speed spend split start stay stop store study submit
  subscribe subtract survive switch swim take teach test thaw throw tie track trade train transfer travel treat turn type
  uninstall unlock unsubscribe enhance strengthen regain hack root jailbreak quit whistle fall update upgrade upload use validate verify view visit wake wash water whiten win withdraw write
`)

/** Verbs of tasks that are the same for anyone: "how do we bake bread". But "how can we reduce waste" asks for a policy. */
export const craftVerbs = wordSet(`
  bake boil brew calculate clone compile compute configure connect convert debug delete deploy disable divide download enable export extract
  format freeze fry import install measure merge mount parse poach print rename reset roast sharpen sort subtract thaw tie uninstall unlock
  wash
`)

/** With these, "how do you" means people in general, not the addressee. */
export const genericVerbs = wordSet(`
  assemble bake boil brew calculate clean clone compile compute configure connect construct convert cook create cure cut
  debug delete deploy disable divide download draw dry dye enable export extract file fix format freeze fry grill grow hack implement
  import install measure merge mount open paint parse plant plot poach prepare print prove raise remove rename repair replace reset
  wake lose quit root jailbreak hack buy rent crack unclog whistle knit sew iron
  roast sharpen solve sort split start subtract swim thaw tie train turn uninstall unlock wash whiten win
`)

/** Nouns of recommendations: "the best …" and "the best …s" have the same answer. */
const advised = `
  book books|novel novels|movie movies|film films|song songs|website websites|site sites|app apps|blog blogs|course courses|college colleges
  school schools|university universities|institute institutes|place places|hotel hotels|restaurant restaurants|gift gifts|way ways
  program programs|tool tools|resource resources|method methods|laptop laptops|phone phones|smartphone smartphones|camera cameras
  plugin plugins|software software|tutorial tutorials|exercise exercises|idea ideas|company companies|store stores|country countries
  city cities|game games|language languages|podcast podcasts|channel channels|quote quotes|joke jokes|photo photos|story stories
  hack hacks|tip tips|technique techniques|option options|coaching coachings|agency agencies|brand brands|show shows|anime anime
  question questions|answer answers|job jobs|memory memories|moment moments|poem poems|group groups|portal portals
  experience experiences|fact facts|dream dreams|decision decisions|habit habits|sport sports|subject subjects|food foods
  snack snacks|recipe recipes|destination destinations|hobby hobbies|skill skills|speech speeches|lesson lessons
  photograph photographs|picture pictures|quality qualities|feature features
  product products|strategy strategies|diet diets|car cars|bike bikes|headphones headphones|earphones earphones
`
export const advisedNouns: ReadonlyMap<string, string> = new Map(
  advised
    .split(/[|\n]/)
    .map(pair => pair.trim().split(' '))
    .flatMap(([one, many]) =>
      one && many
        ? [
            [one, one],
            [many, one],
          ]
        : [],
    ),
)

/** Nouns whose article does not matter before "of" or "between". */
export const relationNouns = wordSet(`
  advantage advantages application applications benefit benefits capital cause causes characteristic characteristics component components
  consequence consequences cost definition difference differences disadvantage disadvantages effect effects example examples feature features
  function functions future goal goals history impact importance limitation limitations objective objectives origin outcome population
  process purpose qualities reason reasons requirement requirements responsibilities role scope
  problem problems challenge challenges factors methods principles phases stages steps elements ingredients duties pros side-effects sign signs significance
  relationship relationships relation similarity similarities drawbacks impacts structure successes symptom symptoms theory types use uses value weaknesses strengths
`)

/** Nouns without a complete list: "some", "the" and no article mean the same. */
export const openNouns = wordSet(`
  advantages applications benefits causes challenges characteristics consequences disadvantages drawbacks effects examples features impacts
  limitations problems reasons side-effects strengths symptoms uses weaknesses
`)

/** "What is the meaning of life" asks for more than the meaning of a word. */
export const unmeant = wordSet(`
  life existence living love it this that these those they he she you your my our his her their all everything being the a an of for to in
  when by if what i we us me not as yourself myself himself herself itself ourselves themselves
`)
