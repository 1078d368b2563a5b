/** A project's own verdicts as pairs: what people and the judge said of its questions, at which similarity. Texts are not kept. */
import { withDatabase } from '../bench/stores.ts'
import type { WeighedPair } from './weigh.ts'

interface Row {
  verdict: 'same' | 'different'
  similarity: number
  difference: string | null
  source: string
  /** The normalized texts were equal. */
  is_normalized: boolean
}

/** Reads them from DATABASE_URL. Throws when there is no such project. */
export async function readVerdicts(project: string): Promise<WeighedPair[]> {
  const statement = `
    select verdict, similarity, difference, source, one_hash = other_hash as is_normalized
    from effective_verdicts
    where project_id = find_project($1) and similarity is not null`
  const { DATABASE_URL = '' } = process.env
  const rows = await withDatabase(DATABASE_URL, database => database.call<Row>(statement, [project]))
  return rows.map(toPair)
}

/** What was served has no veto: a review is of what was. Under the policy `threshold` nothing has, as none was looked for. */
function toPair({ verdict, similarity, difference, source, is_normalized }: Row): WeighedPair {
  const isServed = difference === null || source === 'review'
  const passes = () => isServed
  return {
    a: '',
    b: '',
    label: verdict === 'same' ? 1 : 0,
    category: isServed ? `${source}: served` : `${source}: ${difference}`,
    set: 'verdicts',
    isNormalized: is_normalized,
    similarity,
    passes: { careful: passes, balanced: passes, generous: passes },
  }
}
