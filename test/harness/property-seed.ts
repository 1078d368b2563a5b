/** What random tests draw: the same in every run, so that a change is not refused for what it did not touch; PROPERTY_SEED=random looks further. */
import fc from 'fast-check'

const asked = process.env.PROPERTY_SEED
const seed = asked === 'random' ? Date.now() : Number(asked ?? 20_261_122)

fc.configureGlobal({ seed: seed | 0 })
