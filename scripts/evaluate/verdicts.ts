/**
 * A project's verdicts as pairs: the verdicts of people and of the judge on its questions, with similarities. Their texts are not stored.
 */
import { withDatabase } from '../bench/stores.ts'
import type { WeighedPair } from './weigh.ts'

interface Row {
  verdict: 'same' | 'different'
  similarity: number
  difference: string | null
  source: string
  /** Whether the normalized texts are equal. */
  is_normalized: boolean
}

/** Reads the verdicts from DATABASE_URL. Throws if the project does not exist. */
export async function readVerdicts(project: string): Promise<WeighedPair[]> {
  const statement = `
    select verdict, similarity, difference, source, one_hash = other_hash as is_normalized
    from effective_verdicts
    where project_id = find_project($1) and similarity is not null`
  const { DATABASE_URL = '' } = process.env
  const rows = await withDatabase(DATABASE_URL, database => database.call<Row>(statement, [project]))
  return rows.map(toPair)
}

/**
 * A served pair has no veto, since only served responses are reviewed. Under the policy `threshold` no pair has one, because none was
 * determined.
 */
function toPair({ verdict, similarity, difference, source, is_normalized }: Row): WeighedPair {
  const isServed = difference === null || source === 'review'
  const score = isServed ? similarity : 0
  return {
    a: '',
    b: '',
    label: verdict === 'same' ? 1 : 0,
    category: isServed ? `${source}: served` : `${source}: ${difference}`,
    set: 'verdicts',
    isNormalized: is_normalized,
    similarity,
    scores: { careful: score, balanced: score, generous: score },
  }
}
