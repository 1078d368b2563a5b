/** What is looked at below the threshold, so that people see what another threshold, or a judge, would serve. */

/** Of the questions. */
export const LOOKUP_SAMPLE_RATE = 12 / 256
/** The lowest similarity. */
export const MIN_SAMPLED_SIMILARITY = 0.8
