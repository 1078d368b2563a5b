/** How much a word says about a question's topic: the lexical embedder's substitute for inverse document frequency. */

const table: ReadonlyArray<readonly [weight: number, words: string]> = [
  [
    0.12,
    `a an the this that these those some any i me my mine we us our you your he him his she her it its they them their one of in on at
    to for from with by about as into onto upon and or but so if be am is are was were been being do does did have has had will would
    shall should can could may might must there here what which how than then also too very really just please ever own such same
    someone something anyone anything get got`,
  ],
  [
    0.35,
    'who whom whose when where why before after during between under over up down out off more most less least all each every',
  ],
  [
    0.4,
    'best good great way ways thing things kind kinds type types example examples use used using make take give go come way need want',
  ],
]

const weights: ReadonlyMap<string, number> = new Map(
  table.flatMap(([weight, words]) => words.split(/\s+/).map(word => [word, weight] as const)),
)

/** The weight of a lower-case word; 1 when the table does not list it. */
export function weightOf(word: string): number {
  return weights.get(word) ?? 1
}
